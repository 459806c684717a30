/* SPDX-License-Identifier: MIT */
/* Files: whole reads and writes, with the path and the reason in every failure. */
#ifndef RP_FILE_H
#define RP_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/status.h"

/* Writes all bytes at the offset, through short writes and interruptions. Returns 0 or an errno. */
int rp_write_all(int fd, const void *bytes, size_t length, off_t offset);

/* The same of several parts (IOV_MAX at most), one behind the other. `parts` are changed. */
int rp_write_parts(int fd, struct iovec *parts, int count, off_t offset);

/* Reads exactly `length` bytes. Returns 0, an errno, or -1 when the file ends before. */
int rp_read_all(int fd, void *bytes, size_t length, off_t offset);

/* Modes of what a record consists of: command lines, variables and messages are the user's own. The
 * umask may take more away. */
enum { RP_PRIVATE_FILE = 0600, RP_PRIVATE_DIRECTORY = 0700 };

/* What is there, if it is something else than a regular file: "a FIFO", "a socket", "a device" or
 * "a directory"; else NULL. */
const char *rp_not_regular(const char *path);

/* As open(2), for regular files alone: what is something else is not opened (EMEDIUMTYPE), and
 * nothing is waited for. With O_CLOEXEC; new files are private. -1: errno says why. */
int rp_open_regular(const char *path, int flags);

/* Why rp_open_regular failed, with `error`: RP_DAMAGED if there is something else than a regular
 * file. */
enum rp_status rp_fail_open(struct rp_problem *why, const char *path, int error);

/* Appends the content of a regular file of at most `limit` bytes to `out`, with a NUL behind that
 * does not count. */
enum rp_status rp_read_file(const char *path, size_t limit, struct rp_buffer *out,
                            struct rp_problem *why);

/* Makes a private file that must not exist yet. */
enum rp_status rp_write_new_file(const char *path, const void *bytes, size_t length,
                                 struct rp_problem *why);

/* mkdir with all parents that are missing. The last part is private, and may exist only if
 * `exist_ok`. */
enum rp_status rp_make_directory(const char *path, bool exist_ok, struct rp_problem *why);

/* With all that is in it. */
void rp_remove_directory(const char *path);

/* `dir/name`, to be freed; NULL without memory. */
char *rp_path_join(const char *dir, const char *name);

/* The path made absolute against the working directory (not resolved), to be freed. */
char *rp_path_absolute(const char *path);

#endif
