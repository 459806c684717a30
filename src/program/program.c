/* SPDX-License-Identifier: MIT */
/* libreprise.a: the functions of reprise.h, which programs link. They do nothing unless
 * libreprise-ft.so (or, for commutative regions, libreprise.so) is loaded in the process; then they
 * call that library. */
#include <dlfcn.h>

#include "reprise.h"

static const struct reprise_calls *library(void)
{
    static const struct reprise_calls *found;
    static int looked;

    if (!looked) {
        looked = 1;
        found = dlsym(RTLD_DEFAULT, "reprise_ft_calls");
        if (found && found->version != 1)
            found = NULL;
    }
    return found;
}

#define PUBLIC __attribute__((weak, visibility("default")))

PUBLIC int reprise_active(void)
{
    return library() ? library()->active() : 0;
}

PUBLIC void reprise_protect(int id, void *memory, size_t bytes)
{
    if (library())
        library()->protect(id, memory, bytes, NULL);
}

PUBLIC void reprise_protect_array(int id, void *memory, size_t count, size_t size)
{
    reprise_protect(id, memory, count * size);
}

PUBLIC void reprise_protect_state(int id, const struct reprise_state *state, void *data)
{
    if (library())
        library()->protect(id, data, 0, state);
}

PUBLIC void reprise_unprotect(int id)
{
    if (library())
        library()->unprotect(id);
}

PUBLIC void reprise_interval(long iterations)
{
    if (library())
        library()->interval(iterations);
}

PUBLIC void reprise_capacity(size_t bytes)
{
    if (library())
        library()->capacity(bytes);
}

PUBLIC void reprise_capacity_iterations(long iterations)
{
    if (library())
        library()->capacity_iterations(iterations);
}

PUBLIC jmp_buf *reprise_point(void)
{
    static jmp_buf unused;

    return library() ? library()->point() : &unused;
}

PUBLIC long reprise_first(long first)
{
    return library() ? library()->first(first) : first;
}

PUBLIC long reprise_next(long i)
{
    return library() ? library()->next(i) : i + 1;
}

PUBLIC void reprise_leave(void)
{
    if (library())
        library()->leave();
}

PUBLIC void reprise_run(long first, long end, int (*iteration)(long i, void *data), void *data)
{
    REPRISE_LOOP(i, first, end)
    if (!iteration(i, data)) {
        reprise_leave();
        break;
    }
}

static const struct reprise_region_calls *recorder(void)
{
    static const struct reprise_region_calls *found;
    static int looked;

    if (!looked) {
        looked = 1;
        found = dlsym(RTLD_DEFAULT, "reprise_region_calls");
        if (found && found->version != 1)
            found = NULL;
    }
    return found;
}

PUBLIC void reprise_commutative_begin(unsigned long count)
{
    if (recorder())
        recorder()->begin(count);
}

PUBLIC void reprise_commutative_end(void)
{
    if (recorder())
        recorder()->end();
}
