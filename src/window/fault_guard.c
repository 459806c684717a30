/* SPDX-License-Identifier: MIT */
#include "window/fault_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

struct guarded {
    sigjmp_buf way_out;
    uintptr_t from;
    size_t size;
};

static __thread struct guarded *volatile now;
static const int faults[] = {SIGSEGV, SIGBUS};
static struct sigaction others[sizeof faults / sizeof *faults];
static bool is_set;

static void handle(int signal, siginfo_t *info, void *context)
{
    struct guarded *g = now;

    (void)context;
    if (g && info->si_code > 0 && (uintptr_t)info->si_addr - g->from < g->size)
        siglongjmp(g->way_out, 1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &others[i], NULL);
    if (info->si_code <= 0)
        raise(signal); /* somebody sent it; a fault comes again by itself */
}

static void set_handlers(void)
{
    struct sigaction first = {.sa_sigaction = handle,
                              .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

    is_set = true;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &first, &others[i]);
}

bool rp_guard(const void *from, size_t size, void (*act)(void *data), void *data)
{
    struct guarded guarded = {.from = (uintptr_t)from, .size = size};

    if (!is_set)
        set_handlers();
    bool is_left = sigsetjmp(guarded.way_out, 0) != 0;
    if (!is_left) {
        now = &guarded;
        act(data);
    }
    now = NULL;
    return !is_left;
}
