/* SPDX-License-Identifier: MIT */
/* A number that processes share, perhaps of several hosts, by a small file and its locks. */
#ifndef RP_SHARED_COUNTER_H
#define RP_SHARED_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct rp_shared_counter {
    int fd;        /* -1: the number is this process's own */
    int64_t value; /* of an own one */
};

#define RP_SHARED_COUNTER_OWN                                                                      \
    {                                                                                              \
        -1, 0                                                                                      \
    }

/* Makes a new file, named after `path`, whose end XXXXXX is replaced. The number is 0. Returns
 * whether that succeeded. */
bool rp_shared_counter_create(struct rp_shared_counter *counter, char *path);

/* Opens the file that another process made. Returns whether that succeeded. */
bool rp_shared_counter_open(struct rp_shared_counter *counter, const char *path);

/* From now on the number is this process's own. */
void rp_shared_counter_close(struct rp_shared_counter *counter);

/* Each of these is atomic, also between threads, and returns the value before it; -1: the file
 * cannot be read or written. */
int64_t rp_shared_counter_get(struct rp_shared_counter *counter);
int64_t rp_shared_counter_add(struct rp_shared_counter *counter, int64_t amount);
int64_t rp_shared_counter_set(struct rp_shared_counter *counter, int64_t value);
/* Sets it to `value` unless it is larger. */
int64_t rp_shared_counter_raise(struct rp_shared_counter *counter, int64_t value);

#endif
