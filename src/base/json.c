/* SPDX-License-Identifier: MIT */
/* A recursive-descent reader. The depth is limited and only whole numbers are kept, so that hostile
 * text costs no more than its length. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { DEPTH_LIMIT = 32 };

struct parser {
    const char *start, *at, *end;
    const char *wrong;
    bool starved; /* an allocation failed */
};

static struct rp_json *parse_value(struct parser *p, int depth);

static void skip_space(struct parser *p)
{
    while (p->at < p->end && strchr(" \t\r\n", *p->at) && *p->at)
        p->at++;
}

static bool accept(struct parser *p, char c)
{
    skip_space(p);
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

static void *wrong(struct parser *p, const char *what)
{
    if (!p->wrong)
        p->wrong = what;
    return NULL;
}

static bool parse_hex4(struct parser *p, uint32_t *out)
{
    uint32_t value = 0;

    if (p->end - p->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *p->at++;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    *out = value;
    return true;
}

static void put_utf8(struct rp_buffer *out, uint32_t code)
{
    if (code < 0x80) {
        rp_buffer_byte(out, (uint8_t)code);
    } else if (code < 0x800) {
        rp_buffer_byte(out, (uint8_t)(0xc0 | code >> 6));
        rp_buffer_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        rp_buffer_byte(out, (uint8_t)(0xe0 | code >> 12));
        rp_buffer_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
        rp_buffer_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
    } else {
        rp_buffer_byte(out, (uint8_t)(0xf0 | code >> 18));
        rp_buffer_byte(out, (uint8_t)(0x80 | (code >> 12 & 0x3f)));
        rp_buffer_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
        rp_buffer_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
    }
}

static bool parse_unicode(struct parser *p, struct rp_buffer *out)
{
    uint32_t code, low;

    if (!parse_hex4(p, &code) || code == 0)
        return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u')
            return false;
        p->at += 2;
        if (!parse_hex4(p, &low) || low < 0xdc00 || low >= 0xe000)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return false;
    }
    put_utf8(out, code);
    return true;
}

static bool parse_escape(struct parser *p, struct rp_buffer *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";

    if (p->at == p->end)
        return false;
    char c = *p->at++;
    if (c == 'u')
        return parse_unicode(p, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return false;
    rp_buffer_byte(out, (uint8_t)to[found - from]);
    return true;
}

static char *parse_string(struct parser *p)
{
    struct rp_buffer text = {0};

    if (!accept(p, '"'))
        return wrong(p, "a string is expected");
    while (p->at < p->end && *p->at != '"') {
        unsigned char c = (unsigned char)*p->at++;
        bool fine = c >= 0x20;
        if (c == '\\')
            fine = parse_escape(p, &text);
        else
            rp_buffer_byte(&text, c);
        if (!fine) {
            rp_buffer_free(&text);
            return wrong(p, "a bad character in a string");
        }
    }
    rp_buffer_byte(&text, 0);
    p->starved |= text.failed;
    if (p->at == p->end || text.failed) {
        rp_buffer_free(&text);
        return wrong(p, "an unended string");
    }
    p->at++;
    return (char *)text.bytes;
}

static bool parse_number(struct parser *p, int64_t *out)
{
    bool negative = p->at < p->end && *p->at == '-';
    uint64_t value = 0;
    int digits = 0;

    p->at += negative;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9' && digits < 18; p->at++, digits++)
        value = value * 10 + (uint64_t)(*p->at - '0');
    *out = negative ? -(int64_t)value : (int64_t)value;
    return digits > 0 && (p->at == p->end || !strchr("0123456789.eE", *p->at) || !*p->at);
}

/* Skips fractions, exponents and digits beyond what we keep, so that a key of a later version does
 * no harm. */
static bool skip_real(struct parser *p, struct rp_json *value)
{
    bool more = p->at < p->end && p->at[-1] >= '0' && p->at[-1] <= '9';

    while (p->at < p->end && *p->at && strchr("0123456789.eE+-", *p->at))
        p->at++;
    value->kind = RP_JSON_REAL;
    value->number = 0;
    return more;
}

static bool parse_word(struct parser *p, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static void parse_members(struct parser *p, struct rp_json *value, char close, int depth)
{
    struct rp_json **tail = &value->child;

    if (accept(p, close))
        return;
    do {
        char *key = NULL;
        if (value->kind == RP_JSON_OBJECT) {
            key = parse_string(p);
            if (!key || !accept(p, ':')) {
                free(key);
                wrong(p, "a ':' is expected");
                return;
            }
        }
        *tail = parse_value(p, depth + 1);
        if (!*tail) {
            free(key);
            return;
        }
        (*tail)->key = key;
        tail = &(*tail)->next;
    } while (accept(p, ','));
    if (!accept(p, close))
        wrong(p, "a ',' or the end of an array or object is expected");
}

static void parse_into(struct parser *p, struct rp_json *value, int depth)
{
    skip_space(p);
    char c = p->at < p->end ? *p->at : 0;

    if (c == '{' || c == '[') {
        p->at++;
        value->kind = c == '{' ? RP_JSON_OBJECT : RP_JSON_ARRAY;
        parse_members(p, value, c == '{' ? '}' : ']', depth);
    } else if (c == '"') {
        value->kind = RP_JSON_STRING;
        value->string = parse_string(p);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        value->kind = RP_JSON_NUMBER;
        if (!parse_number(p, &value->number) && !skip_real(p, value))
            wrong(p, "not a number");
    } else if (parse_word(p, "true")) {
        value->kind = RP_JSON_BOOL;
        value->number = 1;
    } else if (parse_word(p, "false")) {
        value->kind = RP_JSON_BOOL;
    } else if (!parse_word(p, "null")) {
        wrong(p, "a value is expected");
    }
}

static struct rp_json *parse_value(struct parser *p, int depth)
{
    if (depth > DEPTH_LIMIT)
        return wrong(p, "nested too deeply");
    struct rp_json *value = calloc(1, sizeof *value);
    p->starved |= !value;
    if (!value)
        return wrong(p, "out of memory");
    parse_into(p, value, depth);
    if (p->wrong) {
        rp_json_free(value);
        return NULL;
    }
    return value;
}

enum rp_status rp_json_parse(const char *text, size_t length, struct rp_json **out,
                             struct rp_problem *why)
{
    struct parser p = {text, text, text + length, NULL, false};
    struct rp_json *value = parse_value(&p, 0);

    skip_space(&p);
    if (value && p.at != p.end)
        wrong(&p, "something follows the document");
    if (p.wrong) {
        rp_json_free(value);
        return p.starved
                   ? rp_fail(why, RP_MEMORY, "out of memory")
                   : rp_fail(why, RP_DAMAGED, "at byte %zu: %s", (size_t)(p.at - p.start), p.wrong);
    }
    *out = value;
    return RP_OK;
}

void rp_json_free(struct rp_json *value)
{
    while (value) {
        struct rp_json *next = value->next;
        rp_json_free(value->child);
        free(value->key);
        free(value->string);
        free(value);
        value = next;
    }
}

const struct rp_json *rp_json_member(const struct rp_json *object, const char *key,
                                     enum rp_json_kind kind)
{
    if (object->kind != RP_JSON_OBJECT)
        return NULL;
    for (const struct rp_json *member = object->child; member; member = member->next)
        if (member->kind == kind && strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

static void put_escape(struct rp_buffer *out, uint32_t code)
{
    if (code >= 0x10000)
        rp_buffer_printf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                         0xdc00 + ((code - 0x10000) & 0x3ff));
    else
        rp_buffer_printf(out, "\\u%04x", code);
}

void rp_json_put_string(struct rp_buffer *out, const char *string)
{
    const unsigned char *s = (const unsigned char *)string, *end = s + strlen(string);

    rp_buffer_byte(out, '"');
    while (s < end) {
        uint32_t code = 0xfffd;
        int length = rp_text_decode(s, end, &code);
        if (*s == '"' || *s == '\\')
            rp_buffer_printf(out, "\\%c", *s);
        else if (length == 0 || !rp_text_is_shown(code))
            put_escape(out, code);
        else
            rp_buffer_put(out, s, (size_t)length);
        s += length > 0 ? length : 1;
    }
    rp_buffer_byte(out, '"');
}
