/* SPDX-License-Identifier: MIT */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void rp_buffer_free(struct rp_buffer *buffer)
{
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

void rp_buffer_clear(struct rp_buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

bool rp_buffer_reserve(struct rp_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (buffer->room - buffer->length >= more)
        return true;
    size_t room = buffer->room ? buffer->room : 64;
    while (room - buffer->length < more) {
        if (room > SIZE_MAX / 2)
            goto fail;
        room *= 2;
    }
    uint8_t *bytes = realloc(buffer->bytes, room);
    if (!bytes)
        goto fail;
    buffer->bytes = bytes;
    buffer->room = room;
    return true;
fail:
    buffer->failed = true;
    return false;
}

/* Most often there is room; then no call is needed. */
static inline bool has_room(struct rp_buffer *buffer, size_t more)
{
    return (!buffer->failed && buffer->room - buffer->length >= more) ||
           rp_buffer_reserve(buffer, more);
}

void rp_buffer_put(struct rp_buffer *buffer, const void *bytes, size_t count)
{
    if (count == 0 || !has_room(buffer, count))
        return;
    memcpy(buffer->bytes + buffer->length, bytes, count);
    buffer->length += count;
}

void rp_buffer_byte(struct rp_buffer *buffer, uint8_t value)
{
    rp_buffer_put(buffer, &value, 1);
}

static void put_little_endian(struct rp_buffer *buffer, uint64_t value, int count)
{
    uint8_t bytes[8];

    for (int i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    rp_buffer_put(buffer, bytes, (size_t)count);
}

void rp_buffer_u16(struct rp_buffer *buffer, uint16_t value)
{
    put_little_endian(buffer, value, 2);
}

void rp_buffer_u32(struct rp_buffer *buffer, uint32_t value)
{
    put_little_endian(buffer, value, 4);
}

void rp_buffer_u64(struct rp_buffer *buffer, uint64_t value)
{
    put_little_endian(buffer, value, 8);
}

void rp_buffer_varint(struct rp_buffer *buffer, uint64_t value)
{
    enum { MOST = 10 };

    if (!has_room(buffer, MOST))
        return;
    uint8_t *to = buffer->bytes + buffer->length;
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    buffer->length = (size_t)(to - buffer->bytes);
}

void rp_buffer_svarint(struct rp_buffer *buffer, int64_t value)
{
    rp_buffer_varint(buffer, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void rp_buffer_string(struct rp_buffer *buffer, const void *bytes, size_t count)
{
    rp_buffer_varint(buffer, count);
    rp_buffer_put(buffer, bytes, count);
}

void rp_buffer_printf(struct rp_buffer *buffer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int count = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (count < 0 || !rp_buffer_reserve(buffer, (size_t)count + 1))
        return;
    va_start(arguments, format);
    vsnprintf((char *)buffer->bytes + buffer->length, (size_t)count + 1, format, arguments);
    va_end(arguments);
    buffer->length += (size_t)count;
}

struct rp_view rp_view_of(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    return (struct rp_view){at, length > 0 ? at + length : at, false};
}

static const uint8_t *take(struct rp_view *view, size_t count)
{
    if (view->failed || (size_t)(view->end - view->at) < count) {
        view->failed = true;
        return NULL;
    }
    const uint8_t *at = view->at;
    view->at += count;
    return at;
}

uint8_t rp_view_byte(struct rp_view *view)
{
    const uint8_t *at = take(view, 1);

    return at ? *at : 0;
}

uint32_t rp_view_u32(struct rp_view *view)
{
    const uint8_t *at = take(view, 4);

    return at ? rp_load_u32(at) : 0;
}

uint64_t rp_view_u64(struct rp_view *view)
{
    const uint8_t *at = take(view, 8);

    return at ? rp_load_u64(at) : 0;
}

uint64_t rp_view_long_varint(struct rp_view *view)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        const uint8_t *at = take(view, 1);
        if (!at)
            return 0;
        if (shift == 63 && *at > 1)
            break;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (!(*at & 0x80))
            return value;
    }
    view->failed = true;
    return 0;
}

const uint8_t *rp_view_string(struct rp_view *view, size_t *length)
{
    uint64_t count = rp_view_varint(view);

    *length = 0;
    if (view->failed || count > (uint64_t)(view->end - view->at)) {
        view->failed = true;
        return NULL;
    }
    *length = (size_t)count;
    return take(view, (size_t)count);
}

uint16_t rp_load_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t rp_load_u32(const uint8_t *at)
{
    return (uint32_t)rp_load_u16(at) | (uint32_t)rp_load_u16(at + 2) << 16;
}

uint64_t rp_load_u64(const uint8_t *at)
{
    return (uint64_t)rp_load_u32(at) | (uint64_t)rp_load_u32(at + 4) << 32;
}

static bool is_plain(const char *word)
{
    return *word &&
           word[strspn(
               word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")] ==
               0;
}

static bool is_hidden(const char *word, const char *end, int *length)
{
    uint32_t code;

    *length = rp_text_decode((const unsigned char *)word, (const unsigned char *)end, &code);
    return *length == 0 || !rp_text_is_shown(code);
}

static bool has_hidden(const char *word)
{
    const char *end = word + strlen(word);

    for (int length; word < end; word += length)
        if (is_hidden(word, end, &length))
            return true;
    return false;
}

static void put_octal(struct rp_buffer *buffer, const char *bytes, int count)
{
    for (int i = 0; i < count; i++)
        rp_buffer_printf(buffer, "\\%03o", (unsigned char)bytes[i]);
}

void rp_buffer_shell_word(struct rp_buffer *buffer, const char *word)
{
    bool escapes = has_hidden(word);
    const char *end = word + strlen(word);

    if (is_plain(word)) {
        rp_buffer_printf(buffer, "%s", word);
        return;
    }
    rp_buffer_printf(buffer, escapes ? "$'" : "'");
    for (int length; word<end; word += length> 0 ? length : 1) {
        if (is_hidden(word, end, &length))
            put_octal(buffer, word, length > 0 ? length : 1);
        else if (escapes && (*word == '\\' || *word == '\''))
            rp_buffer_printf(buffer, "\\%c", *word);
        else if (*word == '\'')
            rp_buffer_printf(buffer, "'\\''");
        else
            rp_buffer_put(buffer, word, (size_t)length);
    }
    rp_buffer_byte(buffer, '\'');
}
