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

/* Writes `length` bytes at `offset`, and repeats after short writes and interruptions. Returns 0 or
 * an errno. */
int rp_write_all(int fd, const void *bytes, size_t length, off_t offset);

/* Does the same with `count` parts (IOV_MAX at most), one behind the other. It changes `parts`. */
int rp_write_parts(int fd, struct iovec *parts, int count, off_t offset);

/* Reads exactly `length` bytes at `offset`. Returns 0, an errno, or -1 if the file ends before. */
int rp_read_all(int fd, void *bytes, size_t length, off_t offset);

/* Modes of files and directories that hold private data of the user. The umask may clear more bits.
 */
enum { RP_PRIVATE_FILE = 0600, RP_PRIVATE_DIRECTORY = 0700 };

/* Returns what `path` is, if it exists and is not a regular file: "a FIFO", "a socket", "a device"
 * or "a directory". Returns NULL otherwise. */
const char *rp_not_regular(const char *path);

/* Opens a regular file as open(2) does, with O_CLOEXEC, and never blocks. New files are private.
 * Returns -1 and sets errno on failure; EMEDIUMTYPE says that `path` is not a regular file. */
int rp_open_regular(const char *path, int flags);

/* Describes in *why that rp_open_regular failed with the errno `error`. Returns RP_DAMAGED if
 * `path` is not a regular file, else RP_SYSTEM. */
enum rp_status rp_fail_open(struct rp_problem *why, const char *path, int error);

/* Appends the content of a regular file of at most `limit` bytes to `out`, and a NUL that is not
 * counted in the length. */
enum rp_status rp_read_file(const char *path, size_t limit, struct rp_buffer *out,
                            struct rp_problem *why);

/* Writes a new private file. Fails if the file exists. */
enum rp_status rp_write_new_file(const char *path, const void *bytes, size_t length,
                                 struct rp_problem *why);

/* Makes a directory and all missing parents. The last one is private; it may exist already only if
 * `exist_ok`. */
enum rp_status rp_make_directory(const char *path, bool exist_ok, struct rp_problem *why);

/* Removes a directory with everything in it. Errors are ignored. */
void rp_remove_directory(const char *path);

/* Returns `dir/name`, which the caller frees, or NULL if there is no memory. */
char *rp_path_join(const char *dir, const char *name);

/* Returns the absolute path of `path`, which the caller frees. Symbolic links are not resolved. */
char *rp_path_absolute(const char *path);

#endif
