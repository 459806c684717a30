/* SPDX-License-Identifier: MIT */
#include "partial/partial_entries.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "peers/peer_partial.h"
#include "reprise.h"

const struct rp_function rp_f_handler = {RP_HANDLER_NUMBER, "handler"},
                         rp_f_left = {RP_LEFT_NUMBER, "left"};

/* Handlers that MPI called inside the call that the program is in: what it passed. */
enum { HANDLERS = 8 };
static struct {
    size_t count;
    struct {
        unsigned of;
        int code;
    } call[HANDLERS];
} called;

/* Recording */

/* With several threads, only that of the call's own object is known to be called. */
void rp_partial_record_handler(unsigned of, int code)
{
    if (!rp_partial.writer || rp_partial.has_threads || rp_data_off == 0 ||
        called.count == HANDLERS)
        return;
    called.call[called.count].of = of;
    called.call[called.count++].code = code;
}

void rp_partial_record_handlers(void)
{
    for (size_t i = 0; i < called.count; i++) {
        rp_data_begin(rp_partial.writer, rp_f_handler.number, rp_f_handler.name);
        rp_data_put_number(rp_partial.writer, called.call[i].of);
        rp_data_put_signed(rp_partial.writer, called.call[i].code);
        rp_data_end(rp_partial.writer);
    }
    called.count = 0;
}

void rp_partial_record_left(void)
{
    rp_data_begin(rp_partial.writer, rp_f_left.number, rp_f_left.name);
    rp_data_end(rp_partial.writer);
}

void rp_partial_record_begin(const struct rp_function *function, bool has_check, uint32_t check,
                             int rc)
{
    uint16_t folded = (uint16_t)(check ^ check >> 16);

    if (rp_partial.has_threads)
        rp_threads_put(function);
    rp_partial.hooks->before_entry();
    rp_data_begin(rp_partial.writer, function->number, function->name);
    rp_data_put_signed(rp_partial.writer, rc);
    if (has_check)
        rp_data_put(rp_partial.writer, &folded, sizeof folded);
}

void rp_partial_record_update(const struct rp_function *function, uint32_t check, int rc)
{
    if (rp_partial.has_threads) {
        rp_partial_record_begin(function, true, check, rc);
        rp_partial_record_end();
        return;
    }
    if (rc == MPI_SUCCESS && called.count == 0)
        return;
    rp_data_begin(rp_partial.writer, function->number, function->name);
    rp_data_put_signed(rp_partial.writer, rc);
    rp_data_put_number(rp_partial.writer, called.count);
    rp_data_end(rp_partial.writer);
    rp_partial_record_handlers();
}

void rp_partial_record_array(const void *bytes, size_t count)
{
    rp_data_put_content(rp_partial.writer, rp_partial.hooks->taken(bytes, count), count);
}

/* Feeding */

static struct {
    struct rp_function calling; /* what the program is in */
    bool is_stopped;
} feed;
static bool was_left; /* an error handler left the call that the program is in */

/* A debugger gets the process where it is; else it ends here. What it has to write at its end is
 * written, but what it then asks of MPI nobody could answer. */
void rp_partial_feed_stop(const char *function)
{
    char line[256];
    int tracer = 0;

    if (feed.is_stopped) {
        fflush(NULL);
        _exit(0);
    }
    feed.is_stopped = true;
    rp_partial.hooks->job_ends();
    FILE *status = fopen("/proc/self/status", "r");
    if (rp_partial.has_threads && rp_threads_number() >= 0)
        rp_note("the record ends inside %s, call %llu of thread %d", function,
                (unsigned long long)rp_threads_calls() + 1, rp_threads_number());
    else
        rp_note("the record ends inside %s, call %llu of this rank", function,
                (unsigned long long)rp_data_read_entries(rp_partial.reader) + !was_left);
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    if (tracer)
        raise(SIGTRAP);
    exit(0);
}

static __attribute__((noreturn)) void damaged(const struct rp_problem *why, enum rp_status status)
{
    if (status == RP_BUSY)
        rp_partial_feed_stop(feed.calling.name);
    rp_error("in %s, call %llu: %s", feed.calling.name,
             (unsigned long long)rp_data_read_entries(rp_partial.reader), why->text);
    rp_data_end_job(rp_exit_status(status));
}

/* `number`: of the call. */
static __attribute__((noreturn)) void differs(uint64_t number, const char *recorded,
                                              const char *what)
{
    char thread[48] = "";

    if (rp_partial.has_threads)
        snprintf(thread, sizeof thread, " of thread %d", rp_threads_number());
    rp_error("not the recorded run: call %llu%s was %s%s", (unsigned long long)number, thread,
             recorded, what);
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}

static uint64_t number_of_call(void)
{
    return rp_partial.has_threads ? rp_threads_calls() : rp_data_read_entries(rp_partial.reader);
}

void rp_partial_feed_left(const char *recorded)
{
    int thread = 0;
    const char *function = rp_partial.has_threads ? rp_threads_left(&thread) : NULL;

    if (function) {
        rp_error("not the recorded run: thread %d called %s, the program ends here", thread,
                 function);
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    differs(number_of_call(), recorded, ", the program ends here");
}

static __attribute__((noreturn)) void calls_other(uint64_t number, const char *recorded,
                                                  const char *function)
{
    char text[160];

    snprintf(text, sizeof text, ", the program calls %s", function);
    differs(number, recorded, text);
}

bool rp_partial_feed_turn(const char *function)
{
    const char *recorded = NULL;

    switch (rp_threads_reach(function, &recorded)) {
    case RP_TURN_REACHED:
        return true;
    case RP_TURN_OTHER:
        calls_other(rp_threads_calls() + 1, recorded, function);
    case RP_TURN_NONE:
        rp_partial_feed_stop(function);
    default:
        return false;
    }
}

/* A value holds its turn until it is used. */
static void take_turn(const struct rp_function *function)
{
    if (!rp_partial_feed_turn(function->name))
        rp_threads_stay();
    if (function->number != RP_VALUE_NUMBER)
        rp_threads_advance();
}

const struct rp_function *rp_partial_feed_calling(void)
{
    return &feed.calling;
}

int rp_partial_feed_begin(const struct rp_function *function, bool has_check, uint32_t check)
{
    struct rp_problem why;
    const char *recorded;
    uint16_t folded = 0;

    if (feed.is_stopped)
        rp_partial_feed_stop(function->name);
    if (rp_partial_feed_in_handler)
        rp_partial_feed_refuse_in_handler(function);
    if (rp_partial.has_threads)
        take_turn(function);
    feed.calling = *function;
    enum rp_status status = rp_data_next(rp_partial.reader, &recorded, &why);
    if (status != RP_OK)
        damaged(&why, status);
    for (void (*take)(void);
         status == RP_OK && recorded && (take = rp_partial.hooks->reader_of(recorded)) != NULL;) {
        take();
        rp_partial_feed_end();
        status = rp_data_next(rp_partial.reader, &recorded, &why);
    }
    if (status != RP_OK)
        damaged(&why, status);
    if (!recorded)
        rp_partial_feed_stop(function->name);
    if (strcmp(recorded, function->name) != 0)
        calls_other(number_of_call(), recorded, function->name);
    rp_partial.hooks->entry_found();
    int rc = (int)rp_data_get_signed(rp_partial.reader);
    if (has_check)
        rp_data_get(rp_partial.reader, &folded, sizeof folded);
    status = rp_data_failed(rp_partial.reader, &why);
    if (status != RP_OK)
        damaged(&why, status);
    if (has_check && folded != (uint16_t)(check ^ check >> 16))
        differs(number_of_call(), recorded, " with other arguments (counts, ranks or tags)");
    return rc;
}

/* Logs of older versions, and those of several threads, do not have it. */
static bool tells_handlers(void)
{
    return !rp_partial.has_threads && rp_data_tells_handlers(rp_partial.reader);
}

static void feed_handler_behind(void)
{
    struct rp_problem why;
    const char *recorded;
    enum rp_status status = rp_data_next(rp_partial.reader, &recorded, &why);

    if (status != RP_OK)
        damaged(&why, status);
    if (!recorded)
        rp_partial_feed_stop(feed.calling.name);
    if (strcmp(recorded, rp_f_handler.name) != 0)
        calls_other(number_of_call(), recorded, "an error handler");
    rp_partial_feed_handler();
    rp_partial_feed_end();
}

int rp_partial_feed_update(const struct rp_function *function, uint32_t check)
{
    const char *next = rp_partial.has_threads ? function->name : rp_data_peek(rp_partial.reader);

    if (!next || strcmp(next, function->name) != 0)
        return MPI_SUCCESS;
    int rc = rp_partial_feed_begin(function, rp_partial.has_threads, check);
    uint64_t handlers = tells_handlers() ? rp_data_get_number(rp_partial.reader) : 0;
    rp_partial_feed_end();
    while (handlers-- > 0)
        feed_handler_behind();
    return rc;
}

void rp_partial_feed_bytes(void *bytes, size_t count)
{
    rp_data_get(rp_partial.reader, bytes, count);
}

uint64_t rp_partial_feed_number(void)
{
    return rp_data_get_number(rp_partial.reader);
}

void rp_partial_feed_array(void *bytes)
{
    size_t count;
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &count);

    if (content)
        memcpy(bytes, content, count);
}

void rp_partial_feed_end(void)
{
    struct rp_problem why;
    enum rp_status status = rp_data_failed(rp_partial.reader, &why);

    if (status != RP_OK)
        damaged(&why, status);
}

/* Error handlers */

int rp_partial_feed_in_handler;
static bool is_due; /* in the record, MPI called the handler that runs */

void rp_partial_feed_refuse_in_handler(const struct rp_function *function)
{
    rp_error("%s, called by an error handler: it was not recorded, and cannot be answered",
             function->name);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

bool rp_partial_feed_failed(int rc)
{
    return rc != MPI_SUCCESS || called.count > 0;
}

bool rp_partial_feed_made(int rc)
{
    return rc == MPI_SUCCESS && called.count == 0;
}

bool rp_partial_feed_knows_handlers(void)
{
    return called.count > 0;
}

void rp_partial_feed_handler(void)
{
    uint64_t of = rp_data_get_number(rp_partial.reader);
    int code = (int)rp_data_get_signed(rp_partial.reader);

    if (called.count == HANDLERS)
        return;
    called.call[called.count].of = of < UINT_MAX ? (unsigned)of : UINT_MAX;
    called.call[called.count++].code = code;
}

bool rp_partial_feed_handler_is_due(void)
{
    return is_due || !tells_handlers();
}

void rp_partial_feed_left_call(void)
{
    was_left = true;
    rp_partial_feed_stop(feed.calling.name);
}

int reprise_partial_was_left(void)
{
    return was_left;
}

/* Calls what the record has, by `call`; else, after a failure, what it may have been. */
static void call_handlers(int rc, void (*call)(void *object, int code), void *object, MPI_File file)
{
    size_t count = called.count;

    called.count = 0;
    rp_partial_feed_in_handler++;
    is_due = true;
    for (size_t i = 0; i < count; i++)
        if (called.call[i].of == RP_HANDLER_OF_CALL)
            call(object, called.call[i].code);
        else if (called.call[i].of >= RP_HANDLER_OF_FILE) {
            if (!rp_partial_feed_file_handler(called.call[i].of, file, called.call[i].code))
                differs(number_of_call(), feed.calling.name,
                        ", which called an error handler for files that the program has not made");
        } else
            rp_pmpi.Comm_call_errhandler(called.call[i].of == RP_HANDLER_OF_WORLD
                                             ? rp_constant.world
                                             : rp_constant.self,
                                         called.call[i].code);
    is_due = false;
    if (count == 0 && rc != MPI_SUCCESS)
        call(object, rc);
    rp_partial_feed_in_handler--;
}

static void call_comm(void *comm, int code)
{
    rp_pmpi.Comm_call_errhandler(*(MPI_Comm *)comm, code);
}

static void call_win(void *win, int code)
{
    rp_pmpi.Win_call_errhandler(*(MPI_Win *)win, code);
}

static void call_file(void *file, int code)
{
    rp_pmpi.File_call_errhandler(*(MPI_File *)file, code);
}

void rp_partial_feed_error_comm(MPI_Comm comm, int rc)
{
    call_handlers(rc, call_comm, comm == rp_constant.comm_null ? &rp_constant.world : &comm,
                  rp_partial.handle.file_null);
}

void rp_partial_feed_error_win(MPI_Win win, int rc)
{
    call_handlers(rc, call_win, &win, rp_partial.handle.file_null);
}

void rp_partial_feed_error_file(MPI_File file, int rc)
{
    call_handlers(rc, call_file, &file, file);
}

void rp_partial_feed_error_no_file(MPI_Comm comm)
{
    call_handlers(MPI_SUCCESS, call_comm, &comm, rp_partial.handle.file_null);
}
