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

/* Appends the content of a file of at most `limit` bytes to `out`, with a NUL behind that does not count. */
enum rp_status rp_read_file(const char *path, size_t limit, struct rp_buffer *out,
                            struct rp_problem *why);

/* Makes a file that must not exist yet. */
enum rp_status rp_write_new_file(const char *path, const void *bytes, size_t length,
                                 struct rp_problem *why);

/* mkdir with all parents that are missing. The last part may exist only if `exist_ok`. */
enum rp_status rp_make_directory(const char *path, bool exist_ok, struct rp_problem *why);

/* With all that is in it. */
void rp_remove_directory(const char *path);

/* `dir/name`, to be freed; NULL without memory. */
char *rp_path_join(const char *dir, const char *name);

/* The path made absolute against the working directory (not resolved), to be freed. */
char *rp_path_absolute(const char *path);

#endif
