/* SPDX-License-Identifier: MIT */
/* JSON: writing of strings, and a reader for small documents. */
#ifndef RP_JSON_H
#define RP_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

enum rp_json_kind {
    RP_JSON_NULL,
    RP_JSON_BOOL,
    RP_JSON_NUMBER,
    RP_JSON_REAL,
    RP_JSON_STRING,
    RP_JSON_ARRAY,
    RP_JSON_OBJECT
};

/* A value; objects and arrays chain their members by `next` from `child`. */
struct rp_json {
    enum rp_json_kind kind;
    char *key;      /* in an object, else NULL */
    char *string;   /* STRING: NUL-terminated UTF-8 without inner NULs */
    int64_t number; /* NUMBER (whole numbers of at most 18 digits), BOOL; the value of a REAL is not
                       kept */
    struct rp_json *child;
    struct rp_json *next;
};

/* Parses one document. The result is freed with rp_json_free. */
enum rp_status rp_json_parse(const char *text, size_t length, struct rp_json **out,
                             struct rp_problem *why);
void rp_json_free(struct rp_json *value);

/* Returns the member of `object` with this key and kind, or NULL. */
const struct rp_json *rp_json_member(const struct rp_json *object, const char *key,
                                     enum rp_json_kind kind);

/* Writes a quoted string; what a terminal would obey or hide (base/text.h) is escaped, bytes that
 * are not UTF-8 become U+FFFD. */
void rp_json_put_string(struct rp_buffer *out, const char *string);

#endif
