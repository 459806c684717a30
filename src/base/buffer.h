/* SPDX-License-Identifier: MIT */
/* A growing array of bytes. A failed allocation is remembered, so that a chain of puts needs one
 * check at its end. */
#ifndef RP_BUFFER_H
#define RP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_buffer {
    uint8_t *bytes;
    size_t length;
    size_t room;
    bool failed; /* an allocation failed: the content is not to be used */
};

void rp_buffer_free(struct rp_buffer *buffer);
void rp_buffer_clear(struct rp_buffer *buffer); /* makes it empty, keeps its memory */
bool rp_buffer_reserve(struct rp_buffer *buffer, size_t more);
void rp_buffer_put(struct rp_buffer *buffer, const void *bytes, size_t count);
void rp_buffer_byte(struct rp_buffer *buffer, uint8_t value);
void rp_buffer_u16(struct rp_buffer *buffer, uint16_t value);
void rp_buffer_u32(struct rp_buffer *buffer, uint32_t value);
void rp_buffer_u64(struct rp_buffer *buffer, uint64_t value);
void rp_buffer_varint(struct rp_buffer *buffer, uint64_t value);
void rp_buffer_svarint(struct rp_buffer *buffer, int64_t value);
void rp_buffer_string(struct rp_buffer *buffer, const void *bytes, size_t count);
void rp_buffer_printf(struct rp_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reading. A view never runs past its end: after the first read that is too long, every read
 * returns zero and `failed` is set. */
struct rp_view {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

struct rp_view rp_view_of(const void *bytes, size_t length);
uint8_t rp_view_byte(struct rp_view *view);
uint32_t rp_view_u32(struct rp_view *view);
uint64_t rp_view_u64(struct rp_view *view);
uint64_t rp_view_long_varint(struct rp_view *view);

/* Reads a varint. Most are of one byte, which needs no call. */
static inline uint64_t rp_view_varint(struct rp_view *view)
{
    if (__builtin_expect(!view->failed && view->at < view->end && *view->at < 0x80, 1))
        return *view->at++;
    return rp_view_long_varint(view);
}

static inline int64_t rp_view_svarint(struct rp_view *view)
{
    uint64_t value = rp_view_varint(view);

    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

/* Reads a length and as many bytes. Returns a pointer into the view and sets *length. Returns NULL
 * if the length is more than what is left. */
const uint8_t *rp_view_string(struct rp_view *view, size_t *length);

/* Little-endian loads from any address. */
uint16_t rp_load_u16(const uint8_t *at);
uint32_t rp_load_u32(const uint8_t *at);
uint64_t rp_load_u64(const uint8_t *at);

/* Appends `word` as bash reads it: unchanged, or quoted where that is needed, with escapes for what
 * base/text.h escapes. */
void rp_buffer_shell_word(struct rp_buffer *buffer, const char *word);

#endif
