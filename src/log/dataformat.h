/* SPDX-License-Identifier: MIT */
/* What writer and reader of a rank's data log both know. docs/format.md, section 10, is the
 * authority. */
#ifndef RP_DATAFORMAT_H
#define RP_DATAFORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    RP_DATA_MAJOR = 3,
    RP_DATA_OLDEST = 2, /* major version that is read */
    RP_DATA_MINOR = 2,
    RP_DATA_HEADER = 64,
    RP_DATA_CHUNK_HEADER = 20,
    RP_DATA_BLOCK = 1 << 20, /* bytes of the stream in a DATA chunk; the last may have fewer */
    RP_DATA_TAIL_HEADER = 4096,
    RP_DATA_SHORT = 32,  /* an entry of at most this many bytes can be repeated by a count */
    RP_DATA_TWICE = 128, /* a content of at least this many bytes is looked up among earlier ones */
};

enum rp_data_chunk_kind {
    RP_DATA_PLACE = 1,
    RP_DATA_BYTES = 2,
    RP_DATA_END = 3,
    RP_DATA_WINDOWS = 4,
    RP_DATA_LOADS = 5,
    RP_DATA_TRACKED = 6,
    RP_DATA_TURNS = 7
};

struct rp_data_chunk {
    uint8_t kind;
    uint32_t length; /* of the payload before compression */
    uint32_t stored;
    uint32_t crc;
    uint64_t first;  /* bytes of the stream before; not stored, but part of the header's CRC */
    uint64_t offset; /* of the payload in the file */
};

/* The header of the tail: the file beside the log that holds what is not in a chunk yet. */
struct rp_data_tail {
    uint8_t magic[8];
    uint64_t run;
    uint32_t rank, crc;    /* of the 20 bytes before */
    _Atomic uint64_t head; /* bytes of the stream, up to the last whole entry */
    _Atomic uint64_t
        repeats; /* how often the last entry was repeated; valid if repeats_at == head */
    _Atomic uint64_t repeats_at;
    uint64_t loads; /* log of loads: how many loads the tracked program has made */
};

extern const uint8_t rp_data_magic[8], rp_data_tail_magic[8];

void rp_data_put_header(struct rp_buffer *out, uint64_t run, uint32_t rank, uint32_t ranks);
void rp_data_put_chunk(struct rp_buffer *out, const struct rp_data_chunk *chunk);

/* Parses the header of a chunk. Returns false if the bytes are no chunk header, or one that does
 * not belong behind `first` bytes of the stream. */
bool rp_data_get_chunk(const uint8_t bytes[RP_DATA_CHUNK_HEADER], uint64_t first,
                       struct rp_data_chunk *chunk);

/* The logs of a rank that have this format: their names end in `log` and `tail`, and `mark` is the
 * chunk that comes first. */
struct rp_data_kind {
    const char *log, *tail;
    enum rp_data_chunk_kind mark;
    const char *what; /* "a log of loads" */
};
extern const struct rp_data_kind rp_data_of_calls, rp_data_of_loads, rp_data_of_turns;
/* Return the paths (`directory/rank-NNNNN.data`, `.tail`). The caller frees them. */
char *rp_data_kind_path(const struct rp_data_kind *kind, const char *directory, uint32_t rank);
char *rp_data_kind_tail_path(const struct rp_data_kind *kind, const char *directory, uint32_t rank);
char *rp_data_path(const char *directory, uint32_t rank); /* of the data log */

/* Where and how a rank was started: what a PLACE chunk holds. */
struct rp_data_place {
    char *program, *directory, *host;
    char **arguments, **environment; /* NULL-terminated */
};
void rp_data_put_place(struct rp_buffer *out, const struct rp_data_place *place);
bool rp_data_get_place(struct rp_view *in, struct rp_data_place *place);
void rp_data_place_free(struct rp_data_place *place);

#endif
