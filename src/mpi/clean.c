/* SPDX-License-Identifier: MIT */
/*
 * What a preloaded library frees, the program may be given next. A program that reads memory it never wrote then reads what was ours, which is one thing in a recording and another in a replay. So what we free is zero, as most of what the
 * program is given would be without us. The linker puts these functions in place of free and realloc, in our libraries only (--wrap).
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hidden.h"

enum { LARGEST = 32 << 20 }; /* what is larger never comes from glibc's heap: it goes back to the system, which gives zeros */

extern __attribute__((visibility("default"))) void __real_free(void *memory);
extern __attribute__((visibility("default"))) void *__real_realloc(void *memory, size_t size);
RP_HIDDEN void __wrap_free(void *memory);
RP_HIDDEN void *__wrap_realloc(void *memory, size_t size);

static bool knows_sizes;

/* A program's own malloc may come without its own malloc_usable_size, which glibc's is no substitute for. */
__attribute__((constructor)) static void find_out(void)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "free", "malloc_usable_size"};
    Dl_info first, info;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(RTLD_DEFAULT, names[i]);
        if (!function || !dladdr(function, i == 0 ? &first : &info) || (i > 0 && info.dli_fbase != first.dli_fbase))
            return;
    }
    knows_sizes = true;
}

void __wrap_free(void *memory)
{
    size_t size = memory && knows_sizes ? malloc_usable_size(memory) : 0;

    if (size > 0 && size <= LARGEST)
        memset(memory, 0, size);
    __real_free(memory);
}

void *__wrap_realloc(void *memory, size_t size)
{
    size_t old = memory && knows_sizes ? malloc_usable_size(memory) : 0;

    if (old == 0 || old > LARGEST || size == 0)
        return __real_realloc(memory, size);
    if (size <= old)
        return memory;
    void *bigger = malloc(size);
    if (!bigger)
        return NULL;
    memcpy(bigger, memory, old);
    __wrap_free(memory);
    return bigger;
}
