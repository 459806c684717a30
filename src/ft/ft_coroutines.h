/* SPDX-License-Identifier: MIT */
/* Coroutines: functions that wait on stacks of their own. Nonblocking collectives run in them. */
#ifndef RP_FT_COROUTINES_H
#define RP_FT_COROUTINES_H

#include <stdbool.h>
#include <stdint.h>

/* Runs run(data) until it would wait, and goes on with it in rp_ft_coroutines_step. Ends the job
 * without memory. */
void rp_ft_coroutine_start(void (*run)(void *), void *data);

/* Lets each coroutine run until it would wait again. */
void rp_ft_coroutines_step(void);

/* Returns the number of the coroutine that runs, in the order of their starts, from 1; 0 if none
 * does. */
uint32_t rp_ft_coroutine_number(void);

/* The next coroutine that starts has number 1. */
void rp_ft_coroutines_count_anew(void);

/* Goes back from inside a coroutine to whoever started it, or went on with it. */
void rp_ft_coroutine_yield(void);

/* Ends all coroutines where they are: a rollback of all ranks. */
void rp_ft_coroutines_forget(void);

#endif
