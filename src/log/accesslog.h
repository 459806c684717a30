/* SPDX-License-Identifier: MIT */
/*
 * The access log of one rank: what the rank wrote into windows and what it read there, with values
 * and places (docs/format.md, section 14). A partial replay of the rank writes it, so it can be
 * made again from the record at any time.
 */
#ifndef RP_ACCESSLOG_H
#define RP_ACCESSLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "event/site.h"

enum rp_access_kind {
    RP_ACCESS_WINDOW = 'W', /* a window was made: `length` bytes of this rank, `unit` */
    RP_ACCESS_WRITE = 'P',  /* a call wrote into the window of `owner` */
    RP_ACCESS_READ = 'G',   /* a call read from the window of `owner` */
    RP_ACCESS_STORE = 'L',  /* a call found that the program had stored into its own window */
    RP_ACCESS_CHANGE = 'N', /* what others wrote into the rank's own window came in */
    RP_ACCESS_LOAD = 'V',   /* a tracked program loaded what others wrote */
    RP_ACCESS_DIRECT = 'D', /* a tracked program stored, into memory that is public at once */
    RP_ACCESS_DONE = 'C',   /* writes to `owner` are complete; RP_ACCESS_ALL: to all */
    RP_ACCESS_OUT = 'O',    /* stores of the program are public */
};

enum { RP_ACCESS_PIECE = 32768 }; /* bytes of a value, at most */
#define RP_ACCESS_ALL UINT32_MAX

enum rp_access_flavor {
    RP_ACCESS_PLAIN,
    RP_ACCESS_UNTOLD,
    RP_ACCESS_DYNAMIC
}; /* The kind of a window. UNTOLD: the places of its accesses are not known. DYNAMIC: the places
      are addresses of the owner, as recorded. */

struct rp_access {
    uint8_t kind;
    uint32_t window;      /* number among the windows of the rank */
    uint32_t owner;       /* rank in MPI_COMM_WORLD whose memory it is */
    int64_t place;        /* WRITE, READ: in units of the owner; else in bytes */
    uint64_t shift;       /* bytes from `place` to this piece, if the access is cut into pieces */
    uint64_t length;      /* bytes */
    uint64_t number;      /* of the access among all of the rank, in the order of the program */
    uint64_t from, until; /* The access happened after `from` entries of the data log were
                             complete, and was done when `until` were. WRITE has `from` alone, DONE
                             and OUT have `until` alone. */
    bool known;           /* `value` is known */
    const uint8_t *value; /* `length` bytes */
    uint64_t load; /* LOAD: its number among all loads of the rank; DIRECT: that of the next one */
    const uint8_t *mask;  /* STORE: for each 8 bytes, which of them changed */
    uint32_t site;        /* number of the call site + 1; 0: unknown */
    const char *function; /* the call that made the access, or at which the access was seen */
    uint64_t unit;        /* WINDOW */
    uint32_t flavor;      /* WINDOW */
};

/* Writing */

struct rp_access_writer;

/* Makes the log `path` of a rank of this run, which must not exist yet. *out is the caller's; ends
 * with rp_access_close. */
enum rp_status rp_access_create(const char *path, uint64_t run, uint32_t rank,
                                struct rp_access_writer **out, struct rp_problem *why);
/* Appends one access, of at most RP_ACCESS_PIECE bytes. */
void rp_access_put(struct rp_access_writer *writer, const struct rp_access *access);
/* Appends call sites, as records of docs/format.md, section 4. A site must be put before the
 * accesses that name it. */
void rp_access_put_sites(struct rp_access_writer *writer, const struct rp_buffer *records);
void rp_access_close(struct rp_access_writer *writer);

/* Reading. A log is read as a whole; strings and values of its accesses point into it. */

struct rp_access_log {
    struct rp_access *access;
    size_t count;
    struct rp_site_table sites;
    struct rp_buffer file;
    char **names;
    size_t name_count;
};

/* Returns the path `directory/rank-NNNNN.accesses`, which the caller frees. */
char *rp_access_path(const char *directory, uint32_t rank);

/* Reads the log of a rank of this run into *out; rp_access_free frees it. Returns RP_USAGE if the
 * rank has no such log. */
enum rp_status rp_access_read(const char *directory, uint64_t run, uint32_t rank,
                              struct rp_access_log *out, struct rp_problem *why);
void rp_access_free(struct rp_access_log *log);

#endif
