/* SPDX-License-Identifier: MIT */
/*
 * What a preloaded library frees, the program may be given next. A program that reads memory it
 * never wrote then reads what was ours, which is one thing in a recording and another in a replay.
 * So what we free is zero, as most of what the program is given would be without us. The linker
 * puts these functions in place of free and realloc, in our libraries only (--wrap); what the C
 * library frees for us is not reached by that. Copies of messages are freed as they are
 * (base/aligned.h).
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

enum { LONG = 32 << 20 }; /* what glibc at most takes from its heap, if nobody tells it otherwise */

extern __attribute__((visibility("default"))) void __real_free(void *memory);
extern __attribute__((visibility("default"))) void *__real_realloc(void *memory, size_t size);
RP_HIDDEN void __wrap_free(void *memory);
RP_HIDDEN void *__wrap_realloc(void *memory, size_t size);

static bool knows_sizes;

/* The library that has a function. Executables that are not position-independent have entries of
 * their own for functions whose address they take. */
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

/* A program's own malloc may come without its own malloc_usable_size, which glibc's is no
 * substitute for. */
static bool are_of_one_library(void)
{
    static const char *const others[] = {"calloc", "realloc", "free", "malloc_usable_size"};
    const void *library = library_of("malloc");

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!library || library_of(others[i]) != library)
            return false;
    return true;
}

/* Of less than what glibc gives pages of its own: to free such makes it keep more of others. */
static bool tells_sizes(void)
{
    for (size_t size = 1; size < 100000; size = size * 3 + 5) {
        void *memory = calloc(1, size);
        size_t told = memory ? malloc_usable_size(memory) : 0;
        __real_free(memory);
        if (told < size || told > size + size / 2 + 256)
            return false;
    }
    return true;
}

__attribute__((constructor)) static void find_out(void)
{
    knows_sizes = are_of_one_library() && tells_sizes();
}

/* Pages that were never touched stay so. */
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
                   : old + old / 4); /* so that who grows by little does not copy each time */
    if (!bigger)
        return NULL;
    memcpy(bigger, memory, old);
    __wrap_free(memory);
    return bigger;
}
