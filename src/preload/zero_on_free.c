/* SPDX-License-Identifier: MIT */
/*
 * malloc may hand out memory to the program that a preloaded library has freed. A program that
 * reads memory before it writes it would then read our data, which differs between a recording and
 * its replay. So memory that we free is set to zero, which is what most fresh memory holds without
 * us. The linker puts these functions in place of free and realloc, in our libraries only (--wrap).
 * Memory that the C library frees for us is not covered, but for that of qsort (sort.c). Copies of
 * messages are freed without this (base/aligned.h).
 */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/aligned.h"
#include "base/visibility.h"

enum { LONG = 32 << 20 }; /* the most that glibc takes from its heap by default */

extern __attribute__((visibility("default"))) void __real_free(void *memory);
extern __attribute__((visibility("default"))) void *__real_realloc(void *memory, size_t size);
RP_HIDDEN void __wrap_free(void *memory);
RP_HIDDEN void *__wrap_realloc(void *memory, size_t size);

static bool knows_sizes;

/* Returns the library that has a function. Executables that are not position-independent have
 * entries of their own for functions whose address they take. */
static const void *library_of(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (function && dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
        symbol->st_shndx == SHN_UNDEF)
        function = dlsym(RTLD_NEXT, name);
    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* A program may bring its own malloc without its own malloc_usable_size; glibc's does not fit then.
 */
static bool are_of_one_library(void)
{
    static const char *const others[] = {"calloc", "realloc", "free", "malloc_usable_size"};
    const void *library = library_of("malloc");

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!library || library_of(others[i]) != library)
            return false;
    return true;
}

/* Checks malloc_usable_size, by sizes below those that glibc maps separately: to free such a block
 * would raise the threshold for later ones. */
static bool tells_sizes(void)
{
    for (size_t size = 1; size < 100000; size = size * 3 + 5) {
        void *memory = calloc(1, size);
        size_t reported = memory ? malloc_usable_size(memory) : 0;
        __real_free(memory);
        if (reported < size || reported > size + size / 2 + 256)
            return false;
    }
    return true;
}

__attribute__((constructor)) static void find_out(void)
{
    knows_sizes = are_of_one_library() && tells_sizes();
}

/* Sets memory to zero. Large blocks are returned to the system, so that pages that were never
 * touched stay untouched. */
static void make_zero(void *memory, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)memory % page) % page;
    char *at = memory;

    if (size > LONG && madvise(at + before, (size - before) / page * page, MADV_DONTNEED) == 0) {
        memset(at, 0, before);
        at += before + (size - before) / page * page;
    }
    memset(at, 0, (size_t)((char *)memory + size - at));
}

void __wrap_free(void *memory)
{
    if (memory && knows_sizes)
        make_zero(memory, malloc_usable_size(memory));
    __real_free(memory);
}

void rp_free_as_it_is(void *memory)
{
    __real_free(memory);
}

void *__wrap_realloc(void *memory, size_t size)
{
    size_t old = memory && knows_sizes ? malloc_usable_size(memory) : 0;

    if (old == 0)
        return __real_realloc(memory, size);
    if (size == 0) {
        __wrap_free(memory);
        return NULL;
    }
    if (size <= old)
        return memory;
    void *bigger =
        malloc(size > old + old / 4
                   ? size
                   : old + old / 4); /* so that growth by small steps does not copy each time */
    if (!bigger)
        return NULL;
    memcpy(bigger, memory, old);
    __wrap_free(memory);
    return bigger;
}
