/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: what the preloaded libraries free has been made zero: a program that reads memory it never
//     wrote is not told of them
#include "check.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SEEN __attribute__((visibility("default"))) /* by all libraries, in place of theirs */

enum { ROUNDS = 300, LARGEST = 32 << 20 };

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static atomic_long freed, dirty;
static char dirty_of[256];

static bool is_ours(const void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "/libreprise");
}

SEEN size_t malloc_usable_size(void *memory)
{
    static size_t (*next)(void *);

    if (!next)
        next = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return next(memory);
}

static void look(const unsigned char *memory, const void *caller)
{
    Dl_info info;

    if (!memory || !is_ours(caller))
        return;
    size_t size = malloc_usable_size((void *)memory);
    if (size > LARGEST)
        return;
    freed++;
    for (size_t i = 0; i < size; i++)
        if (memory[i] != 0 && dirty++ == 0 && dladdr(caller, &info))
            snprintf(dirty_of, sizeof dirty_of, "%s+%#lx, byte %zu of %zu", info.dli_fname,
                     (unsigned long)((const char *)caller - (const char *)info.dli_fbase), i, size);
}

SEEN void *malloc(size_t size)
{
    return __libc_malloc(size);
}

SEEN void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

SEEN void *realloc(void *memory, size_t size)
{
    look(memory, __builtin_return_address(0));
    return __libc_realloc(memory, size);
}

SEEN void free(void *memory)
{
    look(memory, __builtin_return_address(0));
    __libc_free(memory);
}

static bool is_preloaded(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "/libreprise") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Status status;
        long value;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (check.rank > 0) {
            if (i % 100 == 0)
                check_pace(i);
            check_send(0, i, i, comm);
        }
        for (int from = 1; check.rank == 0 && from < check.size; from++) {
            MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, i, comm, &request);
            MPI_Wait(&request, &status);
            check_note_message(value, &status);
        }
        MPI_Comm_free(&comm);
    }
    CHECK(dirty == 0, "%ld bytes were freed with something in them, the first by %s", dirty,
          dirty_of);
    CHECK(freed > 0 || !is_preloaded(), "nothing was freed");
    return check_end();
}
