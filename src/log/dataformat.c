/* SPDX-License-Identifier: MIT */
#include "log/dataformat.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"

const uint8_t rp_data_magic[8] = {0x89, 'R', 'P', 'R', 'D', 'A', 'T', '\n'};
const uint8_t rp_data_tail_magic[8] = {0x89, 'R', 'P', 'R', 'T', 'A', 'L', '\n'};

_Static_assert(offsetof(struct rp_data_tail, crc) == 20, "docs/format.md, section 10");
_Static_assert(offsetof(struct rp_data_tail, head) == 24, "docs/format.md, section 10");
_Static_assert(offsetof(struct rp_data_tail, loads) == 48, "docs/format.md, section 10");

void rp_data_put_header(struct rp_buffer *out, uint64_t run, uint32_t rank, uint32_t ranks)
{
    static const uint8_t zero[28];
    size_t start = out->length;

    rp_buffer_put(out, rp_data_magic, sizeof rp_data_magic);
    rp_buffer_u16(out, RP_DATA_MAJOR);
    rp_buffer_u16(out, RP_DATA_MINOR);
    rp_buffer_u32(out, 0);
    rp_buffer_u64(out, run);
    rp_buffer_u32(out, rank);
    rp_buffer_u32(out, ranks);
    rp_buffer_put(out, zero, sizeof zero);
    if (!out->failed)
        rp_buffer_u32(out, rp_crc32c(out->bytes + start, out->length - start));
}

static uint32_t chunk_crc(const uint8_t *bytes, uint64_t first)
{
    uint8_t covered[RP_DATA_CHUNK_HEADER - 4 + 8];

    memcpy(covered, bytes, RP_DATA_CHUNK_HEADER - 4);
    for (int i = 0; i < 8; i++)
        covered[RP_DATA_CHUNK_HEADER - 4 + i] = (uint8_t)(first >> 8 * i);
    return rp_crc32c(covered, sizeof covered);
}

void rp_data_put_chunk(struct rp_buffer *out, const struct rp_data_chunk *chunk)
{
    size_t start = out->length;

    rp_buffer_put(out, "RD", 2);
    rp_buffer_byte(out, chunk->kind);
    rp_buffer_byte(out, 0);
    rp_buffer_u32(out, chunk->length);
    rp_buffer_u32(out, chunk->stored);
    rp_buffer_u32(out, chunk->crc);
    if (!out->failed)
        rp_buffer_u32(out, chunk_crc(out->bytes + start, chunk->first));
}

bool rp_data_get_chunk(const uint8_t bytes[RP_DATA_CHUNK_HEADER], uint64_t first,
                       struct rp_data_chunk *chunk)
{
    if (memcmp(bytes, "RD", 2) != 0 || bytes[3] != 0 ||
        rp_load_u32(bytes + 16) != chunk_crc(bytes, first))
        return false;
    chunk->kind = bytes[2];
    chunk->length = rp_load_u32(bytes + 4);
    chunk->stored = rp_load_u32(bytes + 8);
    chunk->crc = rp_load_u32(bytes + 12);
    chunk->first = first;
    return true;
}

static char *path_of(const char *directory, uint32_t rank, const char *suffix)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.%s", directory, rank, suffix) < 0 ? NULL : path;
}

const struct rp_data_kind rp_data_of_calls = {"data", "tail", RP_DATA_PLACE, "a data log"};
const struct rp_data_kind rp_data_of_loads = {"loads", "loads-tail", RP_DATA_LOADS,
                                              "a log of loads"};
const struct rp_data_kind rp_data_of_turns = {"turns", "turns-tail", RP_DATA_TURNS,
                                              "a log of turns"};

char *rp_data_kind_path(const struct rp_data_kind *kind, const char *directory, uint32_t rank)
{
    return path_of(directory, rank, kind->log);
}

char *rp_data_kind_tail_path(const struct rp_data_kind *kind, const char *directory, uint32_t rank)
{
    return path_of(directory, rank, kind->tail);
}

char *rp_data_path(const char *directory, uint32_t rank)
{
    return rp_data_kind_path(&rp_data_of_calls, directory, rank);
}

/* The place of a rank */

static void put_words(struct rp_buffer *out, char **words)
{
    size_t count = 0;

    while (words[count])
        count++;
    rp_buffer_varint(out, count);
    for (size_t i = 0; i < count; i++)
        rp_buffer_string(out, words[i], strlen(words[i]));
}

void rp_data_put_place(struct rp_buffer *out, const struct rp_data_place *place)
{
    rp_buffer_string(out, place->program, strlen(place->program));
    rp_buffer_string(out, place->directory, strlen(place->directory));
    rp_buffer_string(out, place->host, strlen(place->host));
    put_words(out, place->arguments);
    put_words(out, place->environment);
}

static char *get_word(struct rp_view *in)
{
    size_t length = 0;
    const uint8_t *bytes = rp_view_string(in, &length);

    return bytes ? strndup((const char *)bytes, length) : NULL;
}

static char **get_words(struct rp_view *in)
{
    uint64_t count = rp_view_varint(in);

    if (in->failed || count > (uint64_t)(in->end - in->at))
        return NULL;
    char **words = calloc(count + 1, sizeof *words);
    for (uint64_t i = 0; words && i < count; i++)
        if (!(words[i] = get_word(in)))
            break;
    return words;
}

bool rp_data_get_place(struct rp_view *in, struct rp_data_place *place)
{
    *place = (struct rp_data_place){0};
    place->program = get_word(in);
    place->directory = get_word(in);
    place->host = get_word(in);
    place->arguments = get_words(in);
    place->environment = get_words(in);
    if (!in->failed && place->program && place->directory && place->host && place->arguments &&
        place->environment && in->at == in->end)
        return true;
    rp_data_place_free(place);
    return false;
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

void rp_data_place_free(struct rp_data_place *place)
{
    free(place->program);
    free(place->directory);
    free(place->host);
    free_words(place->arguments);
    free_words(place->environment);
    *place = (struct rp_data_place){0};
}
