/* SPDX-License-Identifier: MIT */
/*
 * Inside the reader of logs (log/logreader.h): the log as a sequence of chunks. All functions
 * return RP_DAMAGED, with the place in the file, for bytes that are not those of a log, RP_SYSTEM
 * if the file cannot be read, and RP_MEMORY if there is none.
 */
#ifndef RP_LOGCHUNKS_H
#define RP_LOGCHUNKS_H

#include "base/reopen_file.h"
#include "event/ring.h"
#include "log/logreader.h"

struct rp_log {
    struct rp_reopen file;
    char *path, *directory;
    uint64_t run;
    uint32_t rank, ranks;
    uint64_t length; /* of the file */
    struct rp_chunk *chunks;
    size_t chunk_count, chunk_room;
    struct rp_site_table sites;
    bool of_rows;
    bool ended, indexed;
    struct rp_log_end end;
    struct rp_chunk_place held; /* in chunks */
    struct rp_ring_rest rest;
    size_t next_chunk; /* of rp_log_next_block */
    size_t next_rest;
    uint64_t next_event;
    struct rp_buffer payload;
    const struct rp_codec *codec; /* of the chunk before */
    void *decoder;                /* its state */
    bool goes_on;                 /* the next chunk may continue from it */
    struct rp_buffer scratch;     /* of codecs of rows */
    bool rest_is_read;            /* of rp_log_next_rows */
    uint64_t *times;              /* of the last block that was returned; NULL: there are none */
};

#define U64(x) ((unsigned long long)(x))

/* Fills in `why`, and returns RP_DAMAGED: `what` is wrong at this byte. */
enum rp_status rp_log_damaged(const struct rp_log *log, uint64_t offset, const char *what,
                              struct rp_problem *why);
/* Fills in `why`, and returns RP_MEMORY. */
enum rp_status rp_log_no_memory(const struct rp_log *log, struct rp_problem *why);

/* Whether the file is the log of this run and rank, in a format that is known. */
enum rp_status rp_log_check_header(struct rp_log *log, struct rp_problem *why);

/* Both fill in log->chunks: rp_log_read_index from the index (*found says whether there is one),
 * rp_log_scan_chunks by walking from header to header. */
enum rp_status rp_log_read_index(struct rp_log *log, bool *found, struct rp_problem *why);
enum rp_status rp_log_scan_chunks(struct rp_log *log, struct rp_problem *why);

/* Reads the full header of a chunk that the index names. */
enum rp_status rp_log_confirm_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                    struct rp_problem *why);

/* Reads the payload of a chunk into log->payload. */
enum rp_status rp_log_read_payload(struct rp_log *log, const struct rp_chunk *chunk,
                                   struct rp_problem *why);

/* Reads the head of a ROWS chunk; *rest is the payload behind it, in log->payload. */
enum rp_status rp_log_read_rows_head(struct rp_log *log, struct rp_chunk *chunk,
                                     struct rp_rows_head *head, struct rp_view *rest,
                                     struct rp_problem *why);

/* Decodes an EVENTS chunk into `events`, which has room for chunk->items. */
enum rp_status rp_log_decode_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                   struct rp_event *events, struct rp_problem *why);

#endif
