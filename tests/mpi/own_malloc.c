/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// flags: -fno-pie;-no-pie
// about: a program with its own malloc, whose memory glibc's malloc_usable_size knows nothing of;
//     it takes the address of that, which is one of the executable's own then
#include "check.h"

#include <malloc.h>
#include <stdatomic.h>

#define SEEN __attribute__((visibility("default"))) /* by all libraries, in place of theirs */

enum { ROUNDS = 100, AREA = 1 << 28, HEADER = 32 };

extern void __libc_free(void *memory);
extern void *__libc_realloc(void *memory, size_t size);

static _Alignas(64) char area[AREA]; // of zeros: only what is used becomes memory
static atomic_size_t used;
static size_t (*volatile known)(void *);

static int is_mine(const char *memory)
{
    return memory >= area && memory < area + AREA;
}

// Nothing is given twice. In front is the size, and what glibc would take for a page of its own if
// it looked there.
SEEN void *malloc(size_t size)
{
    const size_t glibcs = 4096 | 2;
    size_t whole = (size + HEADER + 63) / 64 * 64, at = atomic_fetch_add(&used, whole);

    if (at + whole > AREA)
        return NULL;
    memcpy(area + at, &size, sizeof size);
    memcpy(area + at + HEADER - sizeof glibcs, &glibcs, sizeof glibcs);
    return area + at + HEADER;
}

SEEN void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

SEEN void *realloc(void *memory, size_t size)
{
    size_t old;

    if (memory && !is_mine(memory))
        return __libc_realloc(memory, size);
    char *bigger = malloc(size);
    if (memory && bigger) {
        memcpy(&old, (char *)memory - HEADER, sizeof old);
        memcpy(bigger, memory, old < size ? old : size);
    }
    return bigger;
}

SEEN void free(void *memory)
{
    if (memory && !is_mine(memory))
        __libc_free(memory);
}

int main(int argc, char **argv)
{
    known = malloc_usable_size;
    check_start(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        MPI_Status status;
        long value;
        if (check.rank > 0) {
            if (i % 20 == 0)
                check_pace(i);
            check_send(0, i, i, MPI_COMM_WORLD);
        }
        for (int from = 1; check.rank == 0 && from < check.size; from++) {
            MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, &status);
            check_note_message(value, &status);
        }
    }
    CHECK(used > 0 && known != NULL, "nobody asked for memory");
    return check_end();
}
