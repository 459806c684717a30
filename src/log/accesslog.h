/* SPDX-License-Identifier: MIT */
/*
 * The one-sided accesses of one rank, as a run of the rank alone tells them: what it wrote into
 * windows and what it read there, with values and places. docs/format.md, section 14. It can be
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
    RP_ACCESS_WRITE = 'P',  /* by a call, into the window of `owner` */
    RP_ACCESS_READ = 'G',   /* the same */
    RP_ACCESS_STORE = 'L',  /* the program itself stored into its own window, as was seen then */
    RP_ACCESS_CHANGE = 'N', /* of its own window, what others wrote came in */
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
}; /* of a window; untold: places are not known; dynamic: they are the owner's addresses, as
      recorded */

struct rp_access {
    uint8_t kind;
    uint32_t window;      /* number among the windows of the rank */
    uint32_t owner;       /* rank in MPI_COMM_WORLD whose memory it is */
    int64_t place;        /* WRITE, READ: in units of the owner; else in bytes */
    uint64_t shift;       /* bytes behind that: of a piece */
    uint64_t length;      /* bytes */
    uint64_t number;      /* of the access among all of the rank, in the order of the program */
    uint64_t from, until; /* entries of the data log that were complete when it could first have
                             been; and when it was done for certain. Of WRITE only the first, of
                             DONE and OUT only the second. */
    bool known;           /* the value is */
    const uint8_t *value; /* `length` bytes */
    uint64_t load; /* LOAD: its number among all loads of the rank; DIRECT: that of the next one */
    const uint8_t *mask;   /* of STORE: for each 8 bytes, which of them changed */
    uint32_t site;         /* + 1; 0: unknown */
    const char *function;  /* the call, or the one at which it was seen */
    uint32_t unit, flavor; /* WINDOW */
};

/* Writing */

struct rp_access_writer;

/* Makes a file that must not exist yet. */
enum rp_status rp_access_create(const char *path, uint64_t run, uint32_t rank,
                                struct rp_access_writer **out, struct rp_problem *why);
/* Of at most RP_ACCESS_PIECE bytes. */
void rp_access_put(struct rp_access_writer *writer, const struct rp_access *access);
/* Sites come before what names them: the records of section 4. */
void rp_access_put_sites(struct rp_access_writer *writer, const struct rp_buffer *records);
void rp_access_close(struct rp_access_writer *writer);

/* Reading: all of it. Strings and values last as long as the log. */

struct rp_access_log {
    struct rp_access *access;
    size_t count;
    struct rp_site_table sites;
    struct rp_buffer file;
    char **names;
    size_t name_count;
};

/* `directory/rank-NNNNN.accesses`, to be freed. */
char *rp_access_path(const char *directory, uint32_t rank);

/* RP_USAGE: there is none. */
enum rp_status rp_access_read(const char *directory, uint64_t run, uint32_t rank,
                              struct rp_access_log *out, struct rp_problem *why);
void rp_access_free(struct rp_access_log *log);

#endif
