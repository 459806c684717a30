/* SPDX-License-Identifier: MIT */
// What every program under tests/shmem shares. A program folds what it is told (results, memory
// that others wrote) into an order-sensitive hash; each PE prints its own, `rank R: hash=...`.
// CHECK says what holds in any order.
//   TEST_ORDER   up (default): PE r sleeps r paces where the program says osh_pace(); down: the
//   last one first
#ifndef OSHCHECK_H
#define OSHCHECK_H

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, pes;
static uint64_t osh_hash = 14695981039346656037u;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "CHECK FAILED %d %s:%d: %s\n", me, __FILE__, __LINE__, #condition);    \
            shmem_global_exit(9);                                                                  \
        }                                                                                          \
    } while (0)

static inline void osh_note(uint64_t value)
{
    for (int i = 0; i < 8; i++)
        osh_hash = (osh_hash ^ (value >> 8 * i & 0xff)) * 1099511628211u;
}

static inline void osh_note_bytes(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        osh_note(((const uint8_t *)bytes)[i]);
}

static inline void osh_pause(long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&pause, NULL);
}

static inline void osh_pace(void)
{
    const char *order = getenv("TEST_ORDER");

    osh_pause(10 * (order && strcmp(order, "down") == 0 ? pes - 1 - me : me));
}

static inline void osh_begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
}

static inline int osh_end(void)
{
    printf("rank %d: hash=%016llx\n", me, (unsigned long long)osh_hash);
    fflush(stdout);
    shmem_finalize();
    return 0;
}

#endif
