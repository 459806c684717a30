/* SPDX-License-Identifier: MIT */
/*
 * A file that stays open while a program runs that we did not write. Such programs may close
 * descriptors that are not theirs (all from 3 on, as daemons do) and open files of their own under
 * the same numbers: so before each use it is asked whether the descriptor is still that of our
 * file, and if not, the file is opened again.
 */
#ifndef RP_REOPEN_FILE_H
#define RP_REOPEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct rp_reopen {
    const char *path; /* the caller's; or NULL */
    int fd;           /* -1: not open */
    int flags;
    bool locked;
    dev_t device;
    ino_t inode;
};

/* Opens it as rp_open_regular does. `path` is absolute, and stays. Returns 0 or an errno. */
int rp_reopen_open(struct rp_reopen *file, const char *path, int flags);

/* The same for one that is open already, and has no name: once closed, it cannot be had any more.
 * Returns 0 or an errno. */
int rp_reopen_adopt(struct rp_reopen *file, int fd);

/* Locks it for writing, as far as locks work. */
void rp_reopen_lock(struct rp_reopen *file);

/* The descriptor, which is that of our file. -1: it cannot be had any more, and errno says why. */
int rp_reopen_fd(struct rp_reopen *file);

/* As rp_write_all, rp_write_parts, rp_read_all and ftruncate. Return 0 or an errno; reading: -1
 * where the file ends before. */
int rp_reopen_write(struct rp_reopen *file, const void *bytes, size_t length, off_t offset);
int rp_reopen_write_parts(struct rp_reopen *file, struct iovec *parts, int count, off_t offset);
int rp_reopen_read(struct rp_reopen *file, void *bytes, size_t length, off_t offset);
int rp_reopen_truncate(struct rp_reopen *file, off_t length);

/* Also if it was not opened. */
void rp_reopen_close(struct rp_reopen *file);

#endif
