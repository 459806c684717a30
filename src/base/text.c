/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdatomic.h>
#include <string.h>

enum { PIECE = 16 }; /* the longest escape or character, with a NUL */

int rp_text_decode(const unsigned char *at, const unsigned char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = at >= end            ? 0
                 : at[0] < 0x80       ? 1
                 : at[0] >> 5 == 0x6  ? 2
                 : at[0] >> 4 == 0xe  ? 3
                 : at[0] >> 3 == 0x1e ? 4
                                      : 0;

    if (length == 0 || end - at < length)
        return 0;
    uint32_t value = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3fu);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *code = value;
    return length;
}

bool rp_text_is_shown(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
    };

    for (size_t i = 0; code >= 0x7f && i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return code >= 0x20;
}

static bool stays(uint32_t code, bool keeps_lines)
{
    return rp_text_is_shown(code) || (keeps_lines && (code == '\n' || code == '\t'));
}

/* Returns the first character that must be escaped, or `end` if there is none. */
static const unsigned char *find_hidden(const unsigned char *at, const unsigned char *end,
                                        bool keeps_lines)
{
    uint32_t code;
    int length;

    while ((length = rp_text_decode(at, end, &code)) > 0 && stays(code, keeps_lines))
        at += length;
    return at;
}

/* Writes the escape of the character at `at`. Returns how many bytes of the text it replaces. */
static int escape_one(const unsigned char *at, const unsigned char *end, char piece[PIECE])
{
    uint32_t code;
    int length = rp_text_decode(at, end, &code);

    if (length == 0)
        snprintf(piece, PIECE, "\\x%02x", *at);
    else if (code == '\n' || code == '\t' || code == '\r')
        snprintf(piece, PIECE, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
    else
        snprintf(piece, PIECE,
                 code < 0x80      ? "\\x%02x"
                 : code < 0x10000 ? "\\u%04x"
                                  : "\\U%08x",
                 code);
    return length > 0 ? length : 1;
}

static size_t put(char *to, size_t used, size_t room, const void *bytes, size_t length)
{
    if (used + length >= room)
        return used;
    memcpy(to + used, bytes, length);
    return used + length;
}

size_t rp_text_escape(char *to, size_t room, const char *from, size_t length, bool keeps_lines)
{
    const unsigned char *at = (const unsigned char *)from, *end = at + length;
    size_t used = 0;

    while (at < end) {
        char piece[PIECE];
        uint32_t code;
        int taken = rp_text_decode(at, end, &code);
        size_t before = used;
        if (taken > 0 && stays(code, keeps_lines)) {
            used = put(to, used, room, at, (size_t)taken);
        } else {
            taken = escape_one(at, end, piece);
            used = put(to, used, room, piece, strlen(piece));
        }
        if (used == before)
            break;
        at += taken;
    }
    to[used] = 0;
    return used;
}

const char *rp_text_shown(const char *text)
{
    enum { SLOTS = 8, ROOM = 2048 };
    static char slots[SLOTS][ROOM];
    static atomic_uint next;

    if (!text)
        return NULL;
    size_t length = strlen(text);
    const unsigned char *bytes = (const unsigned char *)text;
    if (find_hidden(bytes, bytes + length, false) == bytes + length)
        return text;
    char *slot = slots[atomic_fetch_add(&next, 1) % SLOTS];
    rp_text_escape(slot, ROOM, text, length, false);
    return slot;
}

bool rp_text_print(FILE *out, const void *text, size_t length)
{
    const unsigned char *at = text, *end = at + length;

    while (at < end) {
        const unsigned char *hidden = find_hidden(at, end, true);
        char piece[PIECE];
        if (hidden > at && fwrite(at, 1, (size_t)(hidden - at), out) != (size_t)(hidden - at))
            return false;
        at = hidden;
        if (at == end)
            break;
        at += escape_one(at, end, piece);
        if (fputs(piece, out) < 0)
            return false;
    }
    return true;
}
