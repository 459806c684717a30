/* SPDX-License-Identifier: MIT */
/* The format of a rank's log, for its writer and its reader. docs/format.md is the authority. */
#ifndef RP_FORMAT_H
#define RP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    RP_LOG_MAJOR = 1,
    RP_LOG_MINOR = 2,
    RP_LOG_HEADER = 64,
    RP_CHUNK_HEADER = 24,
    RP_LOG_TRAILER = 16,
};

enum rp_chunk_kind {
    RP_CHUNK_EVENTS_KIND = 1,
    RP_CHUNK_SITES = 2,
    RP_CHUNK_LATE = 3,
    RP_CHUNK_END = 4,
    RP_CHUNK_INDEX = 5,
    RP_CHUNK_ROWS = 6,
    RP_CHUNK_TIMES = 7,
};

enum { RP_CHUNK_OPTIONAL = 1, RP_CHUNK_CONTINUES = 2 };

/* Features of a log, in its header. */
enum { RP_LOG_OF_ROWS = 1, RP_LOG_CALLERS = 2 };

enum { RP_CHUNK_ROWS_LIMIT = 1 << 20 };

enum rp_end_reason {
    RP_END_FINALIZE = 0,
    RP_END_ABORT = 1,
    RP_END_EXIT = 2,
    RP_END_STOPPED = 3,
    RP_END_KILLED = 255, /* never written: there is no END chunk */
};

struct rp_chunk {
    uint8_t kind, codec;
    uint16_t flags;
    uint32_t items;
    uint32_t stored; /* length of the payload */
    uint32_t crc;
    uint64_t first;  /* number of the first item; not stored, but part of the header's CRC */
    uint64_t offset; /* of the chunk's header in the file */
};

/* How many items all chunks before a chunk hold. The items of the chunk are numbered from there. */
struct rp_chunk_place {
    uint64_t events, sites, rows;
};

extern const uint8_t rp_log_magic[8];
extern const uint8_t rp_index_magic[8];

void rp_format_put_header(struct rp_buffer *out, uint32_t features, uint64_t run, uint32_t rank,
                          uint32_t ranks);
void rp_format_put_chunk(struct rp_buffer *out, const struct rp_chunk *chunk);

/* Parses the header of a chunk; leaves chunk->offset alone. Returns false if the bytes are no chunk
 * header, or one that does not belong at `place`. */
bool rp_format_get_chunk(const uint8_t bytes[RP_CHUNK_HEADER], const struct rp_chunk_place *place,
                         struct rp_chunk *chunk);

/* rp_format_first returns the number of the first item of a chunk of this kind at `place`;
 * rp_format_pass moves *place behind `chunk`. */
uint64_t rp_format_first(uint8_t kind, const struct rp_chunk_place *place);
void rp_format_pass(const struct rp_chunk *chunk, struct rp_chunk_place *place);

/* The head of the payload of a ROWS chunk. */
struct rp_rows_head {
    uint64_t events; /* of the stream, up to the last that is in the rows */
    uint64_t raw;    /* length before general-purpose compression */
};
void rp_format_put_rows(struct rp_buffer *out, const struct rp_rows_head *head);
struct rp_rows_head rp_format_get_rows(struct rp_view *in);

/* One LATE entry. */
struct rp_late {
    uint64_t post;
    uint32_t kind; /* RP_MATCH, RP_CANCELLED or RP_FREED */
    int32_t source, tag;
};
void rp_format_put_late(struct rp_buffer *out, const struct rp_late *late);
struct rp_late rp_format_get_late(struct rp_view *in);

/* Appends one time to the payload of a TIMES chunk. No time may be less than the one before, which
 * *last holds; *last is 0 at the beginning of the payload. */
void rp_format_put_time(struct rp_buffer *out, uint64_t time, uint64_t *last);

/* Reads all `count` times of the payload of a TIMES chunk. Returns false if it is not well
 * formed. */
bool rp_format_get_times(struct rp_view *in, uint64_t *times, size_t count);

#endif
