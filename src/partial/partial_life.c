/* SPDX-License-Identifier: MIT */
/* The start and the end of both modes, which libreprise.so asks for (peers/peer_partial.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/file.h"
#include "job/settings.h"
#include "log/secret_names.h"
#include "partial/partial.h"
#include "partial/partial_initial_memory.h"
#include "partial/partial_marks.h"
#include "peers/peer_partial.h"
#include "preload/modules.h"
#include "reprise.h"

/* What parts do at calls of parts below them */

static void before_entry(void)
{
    rp_partial_record_handlers();
    rp_partial_requests_settle();
    rp_windows_glance();
}

static void entry_found(void)
{
    if (rp_partial.is_traced)
        rp_windows_looked();
}

/* What an entry describes that belongs to no MPI function. It stands before the entry of the call
 * during which it happened. */
static void (*reader_of(const char *name))(void)
{
    const struct {
        const char *name;
        void (*read)(void);
    } readers[] = {{rp_f_freed.name, rp_partial_requests_take_freed},
                   {rp_f_window.name, rp_partial_feed_changes},
                   {rp_f_arrived.name, rp_partial_feed_arrived},
                   {rp_f_found.name, rp_partial_feed_found},
                   {rp_f_got.name, rp_partial_feed_got},
                   {rp_f_handler.name, rp_partial_feed_handler},
                   {rp_f_left.name, rp_partial_feed_left_call},
                   {"symmetric", rp_windows.symmetric ? rp_windows.symmetric->take : NULL}};

    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(name, readers[i].name) == 0)
            return readers[i].read;
    return NULL;
}

static const struct rp_partial_hooks hooks = {.before_entry = before_entry,
                                              .taken = rp_track_taken,
                                              .unpacked = rp_track_unpacked,
                                              .reader_of = reader_of,
                                              .entry_found = entry_found,
                                              .read_filled = rp_access_trace_got,
                                              .read_dropped = rp_access_trace_forget,
                                              .early_dropped = rp_early_drop,
                                              .stores_out = rp_windows_all_out,
                                              .differs = rp_windows_differ,
                                              .accessed = rp_windows_direct,
                                              .job_ends = rp_early_report};

/* What the engine asks for */

static void find_handles(void)
{
    const char *captured = rp_setting("REPRISE_CAPTURE");

    rp_partial.times_captured =
        captured && (rp_list_has(captured, "time") || rp_list_has(captured, "all"));
    rp_partial.hooks = &hooks;
    rp_next_resolve();
    rp_constants_find();
#ifdef OPEN_MPI
    rp_partial.handle.no_op = rp_library_object("ompi_mpi_op_no_op");
    rp_partial.handle.replace = rp_library_object("ompi_mpi_op_replace");
    rp_partial.handle.group_null = rp_library_object("ompi_mpi_group_null");
    rp_partial.handle.group_empty = rp_library_object("ompi_mpi_group_empty");
    rp_partial.handle.file_null = rp_library_object("ompi_mpi_file_null");
#else
    rp_partial.handle.no_op = MPI_NO_OP;
    rp_partial.handle.replace = MPI_REPLACE;
    rp_partial.handle.group_null = MPI_GROUP_NULL;
    rp_partial.handle.group_empty = MPI_GROUP_EMPTY;
    rp_partial.handle.file_null = MPI_FILE_NULL;
#endif
}

static char **words_of(const char *path)
{
    struct rp_buffer text = {0};
    struct rp_problem ignored;
    size_t count = 0;

    if (rp_read_file(path, 1 << 24, &text, &ignored) != RP_OK)
        return calloc(1, sizeof(char *));
    for (size_t i = 0; i < text.length; i++)
        count += text.bytes[i] == 0;
    char **words = calloc(count + 1, sizeof *words);
    char *at = (char *)text.bytes;
    for (size_t i = 0; words && i < count; i++, at += strlen(at) + 1)
        words[i] = strdup(at);
    rp_buffer_free(&text);
    return words;
}

/* The program may go elsewhere before it initialises MPI, and will do so again. */
static char *started_in;

__attribute__((constructor)) static void note_directory(void)
{
    started_in = getcwd(NULL, 0);
}

/* A debugger starts the program by its path. Programs print the name that they were started by. */
__attribute__((constructor)) static void take_name(int count, char **words)
{
#ifdef __GLIBC__ /* other C libraries do not have it */
    const char *called = rp_setting("REPRISE_CALLED"), *name = called ? strchr(called, '/') : NULL;
    char program[4096] = "";
    ssize_t length =
        name && count > 0 ? readlink("/proc/self/exe", program, sizeof program - 1) : 0;
    const char *own = length > 0 ? strrchr(program, '/') : NULL;

    if (!own || strlen(own + 1) != (size_t)(name - called) ||
        memcmp(own + 1, called, (size_t)(name - called)) != 0)
        return;
    char *recorded = strdup(name + 1), *slash = recorded ? strrchr(recorded, '/') : NULL;
    if (recorded) {
        words[0] = program_invocation_name = recorded;
        program_invocation_short_name = slash ? slash + 1 : recorded;
    }
    unsetenv("REPRISE_CALLED"); /* processes that it starts have names of their own */
#else
    (void)count, (void)words;
#endif
}

/* As the process was started, without what is named like a secret; none at all if the user wants
 * that. */
static char **recorded_environment(void)
{
    char **all = rp_setting("REPRISE_NO_ENVIRONMENT") ? calloc(1, sizeof *all)
                                                      : words_of("/proc/self/environ");
    size_t kept = 0;

    for (char **v = all; v && *v; v++) {
        if (rp_secret_is_named(*v, strcspn(*v, "=")))
            free(*v);
        else
            all[kept++] = *v;
    }
    if (all)
        all[kept] = NULL;
    return all;
}

static void look_around(struct rp_data_place *place)
{
    char program[4096], host[256] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    program[length > 0 ? length : 0] = 0;
    gethostname(host, sizeof host - 1);
    place->program = strdup(program);
    place->host = strdup(host);
    place->directory = started_in ? strdup(started_in) : NULL;
    place->arguments = words_of("/proc/self/cmdline");
    place->environment = recorded_environment();
}

int reprise_partial_is_last(void)
{
    rp_next_resolve();
    return rp_next_is_the_library();
}

int reprise_partial_record(const char *directory, uint64_t run, int rank, int ranks,
                           struct rp_problem *why)
{
    struct rp_data_place place = {0};

    rp_diagnostics_process("rank", rank);
    find_handles();
    rp_threads_expect(directory, run, rank, ranks);
    look_around(&place);
    enum rp_status status = place.directory
                                ? rp_data_create(directory, run, (uint32_t)rank, (uint32_t)ranks,
                                                 &place, &rp_partial.writer, why)
                                : rp_fail(why, RP_SYSTEM, "the working directory cannot be told");
    rp_data_place_free(&place);
    rp_marks_open(directory, run, (uint32_t)rank);
    return status == RP_OK ? rp_track_record(directory, run, rank, ranks, why) : status;
}

int reprise_partial_follow(const char *directory, uint64_t run, int rank, int ranks,
                           struct rp_problem *why)
{
    find_handles();
    rp_diagnostics_process("rank", rank);
    rp_partial_feed_world(rank, ranks);
    rp_threads_expect(directory, run, rank, ranks);
    rp_partial.is_feeding = true;
    enum rp_status status =
        rp_data_open(directory, run, (uint32_t)rank, (uint32_t)ranks, &rp_partial.reader, why);
    if (status == RP_OK && rp_setting("REPRISE_WHO"))
        status =
            rp_access_trace_open(rp_setting("REPRISE_WHO"), directory, run, (uint32_t)rank, why);
    return status == RP_OK ? rp_track_follow(directory, run, rank, ranks, why) : status;
}

void reprise_partial_go(void)
{
    rp_data_off = 0;
}

/* Feeding, all that was recorded must have been used. */
static void check_end(void)
{
    struct rp_problem why;
    const char *left = NULL;
    int thread;

    if (rp_partial.has_threads ? rp_threads_left(&thread) != NULL
                               : rp_data_next(rp_partial.reader, &left, &why) == RP_OK && left)
        rp_partial_feed_left(left);
    rp_track_check_end();
}

uint64_t reprise_partial_close(void)
{
    struct rp_problem why;
    uint64_t bytes = 0;

    uint64_t of_turns = rp_threads_end();
    if (rp_partial.writer && !rp_partial.has_threads && rp_data_off > 0)
        rp_partial_record_left();
    rp_data_off = 1;
    rp_marks_close();
    rp_access_trace_close();
    rp_early_report();
    if (rp_partial.is_feeding)
        check_end();
    if (rp_partial.writer) {
        if (rp_data_close(rp_partial.writer, &bytes, &why) != RP_OK)
            rp_error("%s", why.text);
        rp_partial.writer = NULL;
    }
    return bytes + of_turns + rp_track_close();
}

static double record_Wtime(const struct rp_next *next)
{
    double now = next->Wtime();

    rp_partial_record_begin(&rp_f_Wtime, false, 0, 0);
    rp_partial_record_bytes(&now, sizeof now);
    rp_partial_record_end();
    return now;
}

static double feed_Wtime(void)
{
    double now;

    rp_partial_feed_begin(&rp_f_Wtime, false, 0);
    rp_partial_feed_bytes(&now, sizeof now);
    rp_partial_feed_end();
    return now;
}

double rp_data_Wtime(const struct rp_next *next)
{
    rp_early_enter();
    double now = rp_partial.is_feeding ? feed_Wtime() : record_Wtime(next);
    rp_early_leave();
    return now;
}

static bool follow_value(int32_t *a, uint64_t *c)
{
    static const struct rp_function value = {RP_VALUE_NUMBER, "value"};

    if (rp_partial.is_feeding) {
        if (rp_partial.has_threads && !rp_partial_feed_turn(value.name))
            return false;
        rp_partial_feed_begin(&value, false, 0);
        *a = (int32_t)rp_data_get_signed(rp_partial.reader);
        rp_data_get(rp_partial.reader, c, sizeof *c);
        rp_partial_feed_end();
        return true;
    }
    rp_partial_record_begin(&value, false, 0, 0);
    rp_data_put_signed(rp_partial.writer, *a);
    rp_partial_record_bytes(c, sizeof *c);
    rp_partial_record_end();
    return true;
}

int reprise_partial_value(int32_t *a, uint64_t *c)
{
    bool is_locked = RP_ENTER();

    if (!rp_data_off)
        rp_early_enter();
    bool is_known = follow_value(a, c);
    if (!rp_data_off)
        rp_early_leave();
    rp_partial_leave(is_locked);
    return is_known;
}
