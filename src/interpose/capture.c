/* SPDX-License-Identifier: MIT */
/*
 * Decides which calls are captured, and passes values to the engine (recording) or from it
 * (replay). Values that the program asks for before MPI_Init are kept here until there is an
 * engine.
 */
#include "interpose/capture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "entry/entry.h"
#include "entry/refuse.h"
#include "interpose/captured_values.h"
#include "job/settings.h"
#include "preload/caller.h"
#include "preload/constants.h"
#include "reprise.h"

int rp_captured;
pid_t rp_capture_told_pid, rp_capture_told_parent;

__attribute__((constructor)) static void read_setting(void)
{
    static const char *const names[] = {"time", "random", "pid",
                                        "host"}; /* in the order of enum rp_capture */
    const char *list = rp_setting("REPRISE_MODE") ? rp_setting("REPRISE_CAPTURE") : NULL;

    for (int i = 0; list && i < 4; i++)
        if (rp_list_has(list, names[i]) || rp_list_has(list, "all"))
            rp_captured |= 1 << i;
}

/* Before MPI_Init */

enum { EARLY_MOST = 1 << 20 };

static struct rp_early_value *early;
static size_t early_count, early_room;
static uint64_t early_told;
static bool early_loaded;

int rp_capture_early(size_t index, struct rp_early_value *out)
{
    if (index >= early_count)
        return 0;
    *out = early[index];
    return 1;
}

uint64_t rp_capture_early_told(void)
{
    return early_told;
}

void rp_capture_add_early(const char *function, uintptr_t return_address, int32_t a, uint64_t c)
{
    if (early_count == early_room) {
        size_t room = early_room * 2 + 64;
        struct rp_early_value *more =
            room <= EARLY_MOST ? realloc(early, room * sizeof *early) : NULL;
        if (!more)
            return; /* a process that is no rank might do so for ever */
        early = more;
        early_room = room;
    }
    early[early_count++] = (struct rp_early_value){function, return_address, a, c};
}

static bool recall_early(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    if (!early_loaded)
        rp_replay_load_early();
    early_loaded = true;
    if (early_told >= early_count)
        return false;
    const struct rp_early_value *value = &early[early_told++];
    if (strcmp(value->function, call->function) != 0) {
        rp_error(
            "the replay left the record before MPI_Init: recorded is value %llu by %s, seen is %s",
            (unsigned long long)early_told, value->function, call->function);
        rp_end_job(REPRISE_EXIT_DIVERGED);
    }
    *a = value->a;
    *c = value->c;
    return true;
}

/* Asking and telling */

static bool is_replay(void)
{
    const char *mode = rp_setting("REPRISE_MODE");

    return mode && (strcmp(mode, "replay") == 0 || rp_setting("REPRISE_SOLO"));
}

bool rp_capture_has_old_pids(void)
{
    static int known = -1; /* kept, since signal handlers call this, too */

    if (known < 0)
        known = rp_setting("REPRISE_SOLO") || (is_replay() && rp_captured & RP_CAPTURE_PID);
    return known;
}

/* The engine ends with MPI. Later values are not captured. */
static bool was_engine;

/* Returns whether this process has an MPI library. A shell, a launcher or a checker that starts the
 * program has the rank's environment, but no MPI. */
static bool is_mpi_program(void)
{
    static bool found;

    if (!found) {
        rp_thread_state.depth++;
        found = rp_library_symbol("PMPI_Init") != NULL;
        rp_thread_state.depth--;
    }
    return found;
}

/* Prints a note, once, for a thread that is not followed: its values are not recorded. */
static void tell_of_strangers(void)
{
    static atomic_flag was_printed = ATOMIC_FLAG_INIT;

    if (rp_thread_state.identity != 0 && !rp_threads_on && !is_replay() &&
        !atomic_flag_test_and_set(&was_printed))
        rp_note("a thread that does not call MPI asks for the time, or the like: this is not "
                "captured, since the program did not ask for MPI_THREAD_SERIALIZED or more; "
                "'reprise record --threads' captures it");
}

/* Set inside omp_get_wtime. A runtime of OpenMP also asks for the time while its threads wait
 * (LLVM's on 64-bit Arm). Only what it asks for in omp_get_wtime is the program's. */
__thread bool rp_in_omp_get_wtime;

static bool is_callers(uintptr_t place)
{
    enum rp_caller who = rp_caller_who(place);

    return who != RP_CALLER_OTHER && (who != RP_CALLER_OPENMP || rp_in_omp_get_wtime);
}

bool rp_capture_is_ours(int kind, uintptr_t place)
{
    if (__builtin_expect(!(rp_captured & kind), 1) || rp_is_inside() || !is_callers(place))
        return false;
    if (!rp_engine)
        return !was_engine && syscall(SYS_gettid) == syscall(SYS_getpid) && is_mpi_program();
    was_engine = true;
    if (rp_thread_state.depth == 0 || rp_threads_adopt())
        return true;
    tell_of_strangers();
    return false;
}

/* In a replay, sets the value from the record, and returns whether it has one. With `last`, the
 * record has the difference to the previous value of any thread. */
static bool recalled_since(const struct rp_call *call, uint64_t *last, int32_t *a, uint64_t *c)
{
    bool known = false;

    if (rp_engine && !rp_engine->leads)
        return false;
    bool is_early = !rp_engine;
    if (!is_early)
        rp_threads_enter();
    rp_thread_state.depth++;
    if (is_early)
        known = is_replay() && recall_early(call, a, c);
    else if (rp_engine && (known = rp_engine->value(call, a, c)))
        rp_engine->value_taken();
    if (known && last)
        *c = *last +=
            *c; /* calls are made in the order of the record, so no other thread is between */
    rp_thread_state.depth--;
    if (!is_early)
        rp_threads_leave();
    return known;
}

bool rp_recalled(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    return recalled_since(call, NULL, a, c);
}

static void noted_since(const struct rp_call *call, uint64_t *last, int32_t a, uint64_t c)
{
    bool is_early = !rp_engine;

    rp_thread_state.depth++;
    if (!is_early)
        rp_threads_enter();
    uint64_t coded = last ? c - *last : c;
    if (last)
        *last = c;
    if (is_early && !is_replay())
        rp_capture_add_early(call->function, call->return_address, a, coded);
    else if (!is_early && rp_engine && !rp_engine->leads)
        rp_engine->value(call, &a, &coded);
    if (!is_early)
        rp_threads_leave();
    rp_thread_state.depth--;
}

void rp_noted(const struct rp_call *call, int32_t a, uint64_t c)
{
    noted_since(call, NULL, a, c);
}

/* A number that grows is recorded as a difference. */
bool rp_recalled_clock(const struct rp_call *call, uint64_t *last, uint64_t *value)
{
    int32_t unused;

    return recalled_since(call, last, &unused, value);
}

void rp_noted_clock(const struct rp_call *call, uint64_t *last, uint64_t value)
{
    noted_since(call, last, 0, value);
}

/* Bytes are recorded as their number, and then eight at a time. */
bool rp_recalled_bytes(const struct rp_call *call, void *buffer, size_t room, int32_t *result)
{
    uint64_t c;

    if (!rp_recalled(call, result, &c))
        return false;
    for (size_t at = 0, size = c < room ? (size_t)c : room; at < size; at += sizeof c) {
        int32_t unused;
        uint64_t word = 0;
        if (!rp_recalled(call, &unused, &word))
            break;
        memcpy((char *)buffer + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
    return true;
}

void rp_noted_bytes(const struct rp_call *call, const void *buffer, size_t size, int32_t result)
{
    rp_noted(call, result, size);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)buffer + at, size - at < sizeof word ? size - at : sizeof word);
        rp_noted(call, 0, word);
    }
}
