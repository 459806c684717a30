/* SPDX-License-Identifier: MIT */
/* The start and the end of both modes, and what every entry of the log begins with: the function,
 * what it returned, and a check of the numbers that it was called with. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "log/secret_names.h"
#include "job/settings.h"
#include "partial/partial.h"
#include "peers/peer_partial.h"
#include "preload/modules.h"
#include "peers/peer_reprise.h"
#include "reprise.h"

__thread int rp_data_off = 1;
bool rp_partial_is_feeding, rp_data_times_captured;
struct rp_data_writer *rp_data_writer;
struct rp_data_reader *rp_data_reader;
struct rp_data_handles rp_handle;

static struct rp_function calling; /* alone: what the program is in */

void rp_data_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    rp_data_off = 1;
    rp_early_report();
    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    if (!rp_partial_is_feeding)
        rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}

void rp_data_refuse(const char *function)
{
    rp_error("%s: a rank that calls it cannot be replayed alone yet, so the program is stopped "
             "here rather than replayed wrongly",
             function);
    if (reprise_refused)
        reprise_refused(function);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* Recording */

void rp_partial_record_begin(const struct rp_function *function, bool has_check, uint32_t check,
                             int rc)
{
    uint16_t folded = (uint16_t)(check ^ check >> 16);

    if (rp_partial_requests_freed)
        rp_partial_requests_settle();
    if (rp_windows)
        rp_windows_glance();
    rp_data_begin(rp_data_writer, function->number, function->name);
    rp_data_put_signed(rp_data_writer, rc);
    if (has_check)
        rp_data_put(rp_data_writer, &folded, sizeof folded);
}

void rp_partial_record_failed(const struct rp_function *function, int rc)
{
    rp_data_begin(rp_data_writer, function->number, function->name);
    rp_data_put_signed(rp_data_writer, rc);
    rp_data_end(rp_data_writer);
}

void rp_partial_record_array(const void *bytes, size_t count)
{
    rp_data_put_content(rp_data_writer, rp_track_taken(bytes, count), count);
}

/* Alone */

static bool is_stopped;

/* A debugger gets the process where it is; else it ends here. What it has to write at its end is
 * written, but what it then asks of MPI nobody could answer. */
void rp_partial_feed_stop(const char *function)
{
    char line[256];
    int tracer = 0;

    if (is_stopped) {
        fflush(NULL);
        _exit(0);
    }
    is_stopped = true;
    rp_early_report();
    FILE *status = fopen("/proc/self/status", "r");
    rp_note("the record ends inside %s, call %llu of this rank", function,
            (unsigned long long)rp_data_read_entries(rp_data_reader) + 1);
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    if (tracer)
        raise(SIGTRAP);
    exit(0);
}

static void damaged(const struct rp_problem *why, enum rp_status status)
{
    if (status == RP_BUSY)
        rp_partial_feed_stop(calling.name);
    rp_error("in %s, call %llu: %s", calling.name,
             (unsigned long long)rp_data_read_entries(rp_data_reader), why->text);
    rp_data_end_job(rp_exit_status(status));
}

static void differs(const char *recorded, const char *what)
{
    rp_error("not the recorded run: call %llu was %s%s",
             (unsigned long long)rp_data_read_entries(rp_data_reader), recorded, what);
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}

const struct rp_function *rp_partial_feed_calling(void)
{
    return &calling;
}

/* What an entry of no MPI function tells, which stands before that of the call during which it came
 * to pass. */
static void (*between(const char *name))(void)
{
    if (strcmp(name, rp_f_freed.name) == 0)
        return rp_partial_requests_take_freed;
    if (strcmp(name, rp_f_window.name) == 0)
        return rp_partial_feed_changes;
    if (strcmp(name, rp_f_arrived.name) == 0)
        return rp_partial_feed_arrived;
    if (strcmp(name, rp_f_found.name) == 0)
        return rp_partial_feed_found;
    if (strcmp(name, "symmetric") == 0 && rp_symmetric)
        return rp_symmetric->take;
    return strcmp(name, rp_f_got.name) == 0 ? rp_partial_feed_got : NULL;
}

int rp_partial_feed_begin(const struct rp_function *function, bool has_check, uint32_t check)
{
    struct rp_problem why;
    const char *recorded;
    uint16_t folded = 0;

    if (is_stopped)
        rp_partial_feed_stop(function->name);
    if (rp_partial_feed_in_handler)
        rp_partial_feed_refuse_in_handler(function);
    calling = *function;
    enum rp_status status = rp_data_next(rp_data_reader, &recorded, &why);
    if (status != RP_OK)
        damaged(&why, status);
    for (void (*take)(void); status == RP_OK && recorded && (take = between(recorded)) != NULL;) {
        take();
        rp_partial_feed_end();
        status = rp_data_next(rp_data_reader, &recorded, &why);
    }
    if (status != RP_OK)
        damaged(&why, status);
    if (!recorded)
        rp_partial_feed_stop(function->name);
    if (strcmp(recorded, function->name) != 0) {
        char text[160];
        snprintf(text, sizeof text, ", the program calls %s", function->name);
        differs(recorded, text);
    }
    if (rp_access_traced)
        rp_windows_looked();
    int rc = (int)rp_data_get_signed(rp_data_reader);
    if (has_check)
        rp_data_get(rp_data_reader, &folded, sizeof folded);
    status = rp_data_failed(rp_data_reader, &why);
    if (status != RP_OK)
        damaged(&why, status);
    if (has_check && folded != (uint16_t)(check ^ check >> 16))
        differs(recorded, " with other arguments (counts, ranks or tags)");
    return rc;
}

int rp_partial_feed_update(const struct rp_function *function)
{
    const char *next = rp_data_peek(rp_data_reader);

    if (!next || strcmp(next, function->name) != 0)
        return MPI_SUCCESS;
    int rc = rp_partial_feed_begin(function, false, 0);
    rp_partial_feed_end();
    return rc;
}

void rp_partial_feed_bytes(void *bytes, size_t count)
{
    rp_data_get(rp_data_reader, bytes, count);
}

uint64_t rp_partial_feed_number(void)
{
    return rp_data_get_number(rp_data_reader);
}

void rp_partial_feed_array(void *bytes)
{
    size_t count;
    const uint8_t *content = rp_data_get_content(rp_data_reader, &count);

    if (content)
        memcpy(bytes, content, count);
}

void rp_partial_feed_end(void)
{
    struct rp_problem why;
    enum rp_status status = rp_data_failed(rp_data_reader, &why);

    if (status != RP_OK)
        damaged(&why, status);
}

/* Error handlers. Recording, MPI calls them inside the call that fails, so what they call is not
 * written down. */

int rp_partial_feed_in_handler;

void rp_partial_feed_refuse_in_handler(const struct rp_function *function)
{
    rp_error("%s, called by an error handler: it was not recorded, and cannot be answered",
             function->name);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

void rp_partial_feed_error_comm(MPI_Comm comm, int rc)
{
    rp_partial_feed_in_handler++;
    rp_pmpi.Comm_call_errhandler(comm == rp_constant.comm_null ? rp_constant.world : comm, rc);
    rp_partial_feed_in_handler--;
}

void rp_partial_feed_error_win(MPI_Win win, int rc)
{
    rp_partial_feed_in_handler++;
    rp_pmpi.Win_call_errhandler(win, rc);
    rp_partial_feed_in_handler--;
}

void rp_partial_feed_error_file(MPI_File file, int rc)
{
    rp_partial_feed_in_handler++;
    rp_pmpi.File_call_errhandler(file, rc);
    rp_partial_feed_in_handler--;
}

/* MPI's own start, alone: the launcher's variables, which the program may look at, would have MPI
 * look for the launcher. */

static bool is_launchers(const char *variable)
{
    static const char *const beginnings[] = {"PMI",
                                             "OMPI_COMM_",
                                             "OMPI_UNIVERSE",
                                             "OMPI_MCA_orte_",
                                             "OMPI_MCA_ess",
                                             "OMPI_MCA_pmix",
                                             "OMPI_MCA_initial",
                                             "OMPI_FIRST_RANKS",
                                             "OMPI_APP_",
                                             "OMPI_NUM_APP",
                                             "OMPI_FILE",
                                             "ORTE_",
                                             "PRTE_",
                                             "HYD",
                                             "SLURM_",
                                             "MPI_LOCAL",
                                             "MPIR_CVAR_CH4_OFI",
                                             "OMPI_MCA_btl=",
                                             "OMPI_MCA_pml="};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* What has Open MPI look for nothing outside the process. */
static const char *const singleton[][2] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                           {"OMPI_MCA_btl", "self"},
                                           {"OMPI_MCA_pml", "ob1"}};
static char **hidden;
static size_t hidden_count;

static void hide_launcher(void)
{
    size_t count = 0;

    if (!rp_setting("REPRISE_SOLO"))
        return;
    for (char **v = environ; *v; v++)
        count += is_launchers(*v);
    hidden = calloc(count + 1, sizeof *hidden);
    for (char **v = environ; hidden && *v;)
        if (is_launchers(*v)) {
            char *name = strndup(*v, strcspn(*v, "="));
            hidden[hidden_count++] = strdup(*v);
            unsetenv(name);
            free(name);
            v = environ;
        } else {
            v++;
        }
    for (size_t i = 0; i < sizeof singleton / sizeof *singleton; i++)
        setenv(singleton[i][0], singleton[i][1], 1);
    if (rp_setting(
            "REPRISE_OUTPUT")) /* which others that begin or end at the same time do not share */
        setenv("OMPI_MCA_orte_tmpdir_base", rp_setting("REPRISE_OUTPUT"), 1);
}

static void show_launcher(void)
{
    if (!rp_setting("REPRISE_SOLO"))
        return;
    for (size_t i = 0; i < sizeof singleton / sizeof *singleton; i++)
        unsetenv(singleton[i][0]);
    unsetenv("OMPI_MCA_orte_tmpdir_base");
    for (size_t i = 0; hidden && i < hidden_count; i++)
        putenv(hidden[i]); /* theirs now */
    free(hidden);
    hidden = NULL;
    hidden_count = 0;
}

#if MPI_VERSION >= 4
int rp_partial_life_Session_init(const struct rp_next *next, MPI_Info info,
                                 MPI_Errhandler errhandler, MPI_Session *session)
{
    hide_launcher();
    int rc = next->Session_init(info, errhandler, session);
    show_launcher();
    return rc;
}
#endif

int rp_partial_life_Init(const struct rp_next *next, int *argc, char ***argv)
{
    hide_launcher();
    int rc = next->Init(argc, argv);
    show_launcher();
    return rc;
}

int rp_partial_life_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                                int *provided)
{
    hide_launcher();
    int rc = next->Init_thread(argc, argv, required, provided);
    show_launcher();
    return rc;
}

/* What the engine asks for */

static void find_handles(void)
{
    const char *captured = rp_setting("REPRISE_CAPTURE");

    rp_data_times_captured =
        captured && (rp_list_has(captured, "time") || rp_list_has(captured, "all"));
    rp_next_resolve();
    rp_constants_find();
#ifdef OPEN_MPI
    rp_handle.no_op = rp_library_object("ompi_mpi_op_no_op");
    rp_handle.replace = rp_library_object("ompi_mpi_op_replace");
    rp_handle.group_null = rp_library_object("ompi_mpi_group_null");
    rp_handle.group_empty = rp_library_object("ompi_mpi_group_empty");
    rp_handle.file_null = rp_library_object("ompi_mpi_file_null");
    rp_handle.unweighted = MPI_UNWEIGHTED;
#else
    rp_handle.no_op = MPI_NO_OP;
    rp_handle.replace = MPI_REPLACE;
    rp_handle.group_null = MPI_GROUP_NULL;
    rp_handle.group_empty = MPI_GROUP_EMPTY;
    rp_handle.file_null = MPI_FILE_NULL;
    int *const *unweighted = rp_library_object("MPI_UNWEIGHTED");
    rp_handle.unweighted = unweighted ? *unweighted : NULL;
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

/* A debugger calls the program by its path; programs tell others what they were called. */
__attribute__((constructor)) static void take_name(int count, char **words)
{
#ifdef __GLIBC__ /* others do not tell */
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

    rp_diagnostics_rank(rank);
    find_handles();
    look_around(&place);
    enum rp_status status = place.directory
                                ? rp_data_create(directory, run, (uint32_t)rank, (uint32_t)ranks,
                                                 &place, &rp_data_writer, why)
                                : rp_fail(why, RP_SYSTEM, "the working directory cannot be told");
    rp_data_place_free(&place);
    rp_windows_open(directory, run, (uint32_t)rank);
    return status == RP_OK ? rp_track_record(directory, run, rank, ranks, why) : status;
}

int reprise_partial_follow(const char *directory, uint64_t run, int rank, int ranks,
                           struct rp_problem *why)
{
    find_handles();
    rp_diagnostics_rank(rank);
    rp_partial_feed_world(rank, ranks);
    rp_partial_is_feeding = true;
    enum rp_status status =
        rp_data_open(directory, run, (uint32_t)rank, (uint32_t)ranks, &rp_data_reader, why);
    if (status == RP_OK && rp_setting("REPRISE_WHO"))
        status =
            rp_access_trace_open(rp_setting("REPRISE_WHO"), directory, run, (uint32_t)rank, why);
    return status == RP_OK ? rp_track_follow(directory, run, rank, ranks, why) : status;
}

void reprise_partial_go(void)
{
    rp_data_off = 0;
}

/* Alone, everything that was recorded must have come again. */
static void check_end(void)
{
    struct rp_problem why;
    const char *left = NULL;

    if (rp_data_next(rp_data_reader, &left, &why) == RP_OK && left)
        differs(left, ", the program ends here");
    rp_track_check_end();
}

uint64_t reprise_partial_close(void)
{
    struct rp_problem why;
    uint64_t bytes = 0;

    rp_data_off = 1;
    rp_windows_close();
    rp_access_trace_close();
    rp_early_report();
    if (rp_partial_is_feeding)
        check_end();
    if (rp_data_writer) {
        if (rp_data_close(rp_data_writer, &bytes, &why) != RP_OK)
            rp_error("%s", why.text);
        rp_data_writer = NULL;
    }
    return bytes + rp_track_close();
}

static double record_Wtime(const struct rp_next *next)
{
    double now = next->Wtime();

    rp_partial_record_begin(&rp_f_Wtime, false, 0, 0);
    rp_partial_record_bytes(&now, sizeof now);
    rp_partial_record_end();
    return now;
}

static double alone_Wtime(void)
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
    double now = rp_partial_is_feeding ? alone_Wtime() : record_Wtime(next);
    rp_early_leave();
    return now;
}

static void follow_value(int32_t *a, uint64_t *c)
{
    static const struct rp_function value = {RP_VALUE_NUMBER, "value"};

    if (rp_partial_is_feeding) {
        rp_partial_feed_begin(&value, false, 0);
        *a = (int32_t)rp_data_get_signed(rp_data_reader);
        rp_data_get(rp_data_reader, c, sizeof *c);
        rp_partial_feed_end();
        return;
    }
    rp_partial_record_begin(&value, false, 0, 0);
    rp_data_put_signed(rp_data_writer, *a);
    rp_partial_record_bytes(c, sizeof *c);
    rp_partial_record_end();
}

void reprise_partial_value(int32_t *a, uint64_t *c)
{
    if (!rp_data_off)
        rp_early_enter();
    follow_value(a, c);
    if (!rp_data_off)
        rp_early_leave();
}

/* The record is the one that it would be without data: what was written so far goes. */
static void give_up_data(void)
{
    rp_partial_requests_give_back();
    rp_data_discard(rp_data_writer);
    rp_data_writer = NULL;
    reprise_partial_close();
    rp_note("several threads may call MPI: the data of this rank is not recorded, and windows are "
            "refused from here on");
}

/* Nobody but `record` itself asked for data, and the rank can be replayed without. */
static bool may_give_up(void)
{
    return rp_setting("REPRISE_WINDOWS") && rp_data_off == 0 && !rp_tracked() &&
           !rp_data_noted_windows(rp_data_writer);
}

void reprise_partial_threads(void)
{
    if (may_give_up()) {
        give_up_data();
        return;
    }
    rp_error("several threads that may all call MPI: such a rank cannot be replayed alone yet");
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}
