/* SPDX-License-Identifier: MIT */
/*
 * Coroutines, for non-blocking collectives: the code is that of the blocking ones; where it would
 * wait, it goes back to whoever makes progress.
 */
#include "ft/ft_coroutines.h"

#include <stdlib.h>
#include <ucontext.h>

#include "ft/ft_abort.h"
#include "ft/ft_state.h"

enum { STACK_BYTES = 1 << 17 };

struct coroutine {
    struct coroutine *next;
    ucontext_t context;
    void (*run)(void *);
    void *data;
    uint32_t number;
    bool ended;
    _Alignas(16) char stack[STACK_BYTES];
};

static struct {
    struct coroutine *first, *running, *idle;
    ucontext_t caller;
    uint32_t started;
} all;

static void begin(void)
{
    all.running->run(all.running->data);
    all.running->ended = true;
}

uint32_t rp_ft_coroutine_number(void)
{
    return all.running ? all.running->number : 0;
}

void rp_ft_coroutines_count_anew(void)
{
    all.started = 0;
}

void rp_ft_coroutine_yield(void)
{
    struct coroutine *self = all.running;

    all.running = NULL;
    swapcontext(&self->context, &all.caller);
}

static void resume(struct coroutine *one)
{
    all.running = one;
    swapcontext(&all.caller, &one->context);
    all.running = NULL;
}

static void retire(struct coroutine *one)
{
    one->next = all.idle;
    all.idle = one;
}

static void prepare(struct coroutine *one)
{
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = one->stack;
    one->context.uc_stack.ss_size = STACK_BYTES;
    one->context.uc_link = &all.caller;
    makecontext(&one->context, begin, 0);
}

void rp_ft_coroutine_start(void (*run)(void *), void *data)
{
    struct coroutine *one = all.idle, **end = &all.first;

    if (one)
        all.idle = one->next;
    else
        one = malloc(sizeof *one);
    if (!one)
        rp_ft_die(125, "%s: out of memory for a non-blocking collective", rp_ft.call);
    one->next = NULL;
    one->run = run;
    one->data = data;
    one->number = ++all.started;
    one->ended = false;
    prepare(one);
    while (*end)
        end = &(*end)->next;
    *end = one;
    resume(one);
}

void rp_ft_coroutines_step(void)
{
    for (struct coroutine **link = &all.first; *link;) {
        struct coroutine *one = *link;
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
    while (all.first) {
        struct coroutine *one = all.first;
        all.first = one->next;
        retire(one);
    }
}
