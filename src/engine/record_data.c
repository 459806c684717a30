/* SPDX-License-Identifier: MIT */
#include "engine/record_data.h"

#include <stdlib.h>
#include <string.h>

#include "engine/record_events.h"
#include "entry/threads.h"
#include "job/settings.h"
#include "peers/peer_partial.h"
#include "peers/peer_reprise.h"

static bool is_on, has_threads;

/* Numbers are ranks of the launcher; of children, `all` has the data. */
static bool is_in_set(const char *ranks, const struct rp_session *session)
{
    return *session->job ? strcmp(ranks, "all") == 0 : rp_ranks_have(ranks, session->rank);
}

enum rp_status rp_record_data_open(const struct rp_session *session, struct rp_problem *why)
{
    const char *ranks = rp_setting("REPRISE_RANKS");
    bool is_partial = rp_session_is_partial();

    if (!is_partial && !ranks)
        return RP_OK;
    if (!reprise_partial_record || !reprise_partial_follow)
        return rp_fail(why, RP_USAGE,
                       "the data of ranks is to be recorded, but libreprise-partial.so is not "
                       "preloaded behind libreprise.so");
    if (!is_partial && !is_in_set(ranks, session))
        return RP_OK; /* ranks outside the set have no data log */
    is_on = true;
    if (is_partial)
        return (enum rp_status)reprise_partial_follow(rp_setting("REPRISE_RUN"), session->run,
                                                      session->rank, session->ranks, why);
    return (enum rp_status)reprise_partial_record(session->directory, session->run, session->rank,
                                                  session->ranks, why);
}

void rp_record_data_go(void)
{
    if (is_on)
        reprise_partial_go();
}

void rp_record_data_end(void)
{
    if (has_threads)
        reprise_partial_end();
}

bool rp_record_data_was_left(void)
{
    return reprise_partial_was_left && reprise_partial_was_left();
}

uint64_t rp_record_data_close(void)
{
    bool was_on = is_on;

    is_on = false;
    return was_on ? reprise_partial_close() : 0;
}

bool rp_record_data_value(int32_t *a, uint64_t *c)
{
    return !is_on || reprise_partial_value(a, c);
}

/* Threads */

void rp_record_data_threads(void)
{
    if (!is_on)
        return;
    reprise_partial_threads();
    has_threads = true;
    rp_recorder.numbers_late = true;
}

void rp_record_data_turn_begin(const char *function)
{
    if (has_threads)
        reprise_partial_turn_begin(function);
}

void rp_record_data_turn_end(void)
{
    if (has_threads)
        reprise_partial_turn_end();
}

void rp_record_data_value_taken(void)
{
    if (has_threads)
        reprise_partial_value_taken();
}

void rp_record_data_await(const char *function)
{
    if (has_threads)
        reprise_partial_await(function);
}

bool rp_record_data_answers(const char *function)
{
    return !has_threads || reprise_partial_poll(function);
}

bool rp_record_data_has_threads(void)
{
    return has_threads;
}

void rp_record_data_asks(bool begins)
{
    if (has_threads)
        reprise_partial_asks(begins);
}

void rp_record_data_waits(bool begins)
{
    if (has_threads)
        reprise_partial_waits(begins);
}

/* What libreprise-partial.so asks for (peers/peer_reprise.h) */

void reprise_threads_lock(void)
{
    rp_threads_lock();
}

void reprise_threads_unlock(void)
{
    rp_threads_unlock();
}

unsigned reprise_threads_held(void)
{
    return rp_threads_held();
}

void reprise_threads_give_way(unsigned *tries, int is_patient)
{
    enum { MANY = 2000, SLEEP_US = 500 };

    rp_threads_give_way(tries);
    if (is_patient && *tries > MANY)
        rp_threads_sleep(SLEEP_US);
}

int reprise_threads_follow(void)
{
    return rp_threads_are_followed();
}

uint64_t reprise_thread_identity(void)
{
    return rp_thread_state.identity;
}

int reprise_thread_number(const char *function, uintptr_t place, uintptr_t stack)
{
    const struct rp_call call = {function, NULL, place, stack};

    rp_record_introduce(&call);
    return rp_thread_state.number;
}
