/* SPDX-License-Identifier: MIT */
/*
 * Coroutines, for non-blocking collectives: the code is that of the blocking ones; where it would
 * wait, it goes back to whoever makes progress.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "base/diagnostics.h"
#include "ft/ft.h"

enum { STACK_BYTES = 1 << 17 };

struct rp_ft_coroutine {
    struct rp_ft_coroutine *next;
    ucontext_t context;
    void (*run)(void *);
    void *data;
    uint32_t number;
    bool ended;
    _Alignas(16) char stack[STACK_BYTES];
};

static struct rp_ft_coroutine *first, *running, *idle;
static ucontext_t caller;
static uint32_t started;

static void begin(void)
{
    running->run(running->data);
    running->ended = true;
}

bool rp_ft_inside_coroutine(void)
{
    return running != NULL;
}

uint32_t rp_ft_coroutine_number(void)
{
    return running ? running->number : 0;
}

void rp_ft_coroutines_count_anew(void)
{
    started = 0;
}

void rp_ft_yield(void)
{
    struct rp_ft_coroutine *self = running;

    running = NULL;
    swapcontext(&self->context, &caller);
}

static void resume(struct rp_ft_coroutine *one)
{
    running = one;
    swapcontext(&caller, &one->context);
    running = NULL;
}

static void retire(struct rp_ft_coroutine *one)
{
    one->next = idle;
    idle = one;
}

static void prepare(struct rp_ft_coroutine *one)
{
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = one->stack;
    one->context.uc_stack.ss_size = STACK_BYTES;
    one->context.uc_link = &caller;
    makecontext(&one->context, begin, 0);
}

void rp_ft_coroutine_start(void (*run)(void *), void *data)
{
    struct rp_ft_coroutine *one = idle, **end = &first;

    if (one)
        idle = one->next;
    else
        one = malloc(sizeof *one);
    if (!one)
        rp_ft_die(125, "%s: out of memory for a non-blocking collective", rp_ft.call);
    one->next = NULL;
    one->run = run;
    one->data = data;
    one->number = ++started;
    one->ended = false;
    prepare(one);
    while (*end)
        end = &(*end)->next;
    *end = one;
    resume(one);
}

void rp_ft_coroutines_step(void)
{
    for (struct rp_ft_coroutine **link = &first; *link;) {
        struct rp_ft_coroutine *one = *link;
        if (!one->ended)
            resume(one);
        if (!one->ended) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        retire(one);
    }
}

void rp_ft_coroutines_forget(void)
{
    while (first) {
        struct rp_ft_coroutine *one = first;
        first = one->next;
        retire(one);
    }
}
