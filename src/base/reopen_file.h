/* SPDX-License-Identifier: MIT */
/*
 * A file that stays open while somebody else's program runs in the same process. Such programs may
 * close descriptors that are not theirs (all from 3 on, as daemons do) and reuse the numbers for
 * files of their own. So before each use these functions check that the descriptor still refers to
 * our file, and reopen the file if not.
 */
#ifndef RP_REOPEN_FILE_H
#define RP_REOPEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct rp_reopen {
    const char *path; /* belongs to the caller; NULL: the file has no name */
    int fd;           /* -1: not open */
    int flags;
    bool locked;
    dev_t device;
    ino_t inode;
};

/* Opens `path` as rp_open_regular does. `path` is absolute, and must stay valid until
 * rp_reopen_close. Returns 0 or an errno. */
int rp_reopen_open(struct rp_reopen *file, const char *path, int flags);

/* Takes over `fd`, an open file without a name. If the program closes it, it is lost. Returns 0 or
 * an errno. */
int rp_reopen_adopt(struct rp_reopen *file, int fd);

/* Locks the file for writing, if the file system supports locks. */
void rp_reopen_lock(struct rp_reopen *file);

/* Returns a descriptor of our file. Returns -1 and sets errno if the file cannot be reopened. */
int rp_reopen_fd(struct rp_reopen *file);

/* These do what rp_write_all, rp_write_parts, rp_read_all and ftruncate do. They return 0 or an
 * errno; rp_reopen_read returns -1 if the file ends before. */
int rp_reopen_write(struct rp_reopen *file, const void *bytes, size_t length, off_t offset);
int rp_reopen_write_parts(struct rp_reopen *file, struct iovec *parts, int count, off_t offset);
int rp_reopen_read(struct rp_reopen *file, void *bytes, size_t length, off_t offset);
int rp_reopen_truncate(struct rp_reopen *file, off_t length);

/* Closes the file. May be called for a file that was never opened. */
void rp_reopen_close(struct rp_reopen *file);

#endif
