/* SPDX-License-Identifier: MIT */
/* The beginning and the end: who has a rank, who is a spare; what the library says when it cannot
 * go on. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "ft/ft.h"
#include "preload/constants.h"
#include "reprise.h"

struct rp_ft_state rp_ft = {.rank = -1, .iteration = -1, .in_setup = true};
struct rp_ft_channel *rp_ft_channels;
jmp_buf rp_ft_finalize_point;

static int (*real_revoke)(MPI_Comm), (*real_shrink)(MPI_Comm, MPI_Comm *),
    (*real_agree)(MPI_Comm, int *), (*real_get_failed)(MPI_Comm, MPI_Group *);

static void find(const char *name, void *slot)
{
    void *symbol = rp_library_symbol(name);

    memcpy(slot, &symbol, sizeof symbol);
}

bool rp_ulfm_find(void)
{
    find("PMPIX_Comm_revoke", &real_revoke);
    find("PMPIX_Comm_shrink", &real_shrink);
    find("PMPIX_Comm_agree", &real_agree);
    find("PMPIX_Comm_get_failed", &real_get_failed);
    return real_revoke && real_shrink && real_agree && real_get_failed;
}

int rp_ulfm_revoke(MPI_Comm comm)
{
    return real_revoke(comm);
}

int rp_ulfm_shrink(MPI_Comm comm, MPI_Comm *out)
{
    return real_shrink(comm, out);
}

int rp_ulfm_agree(MPI_Comm comm, int *flag)
{
    return real_agree(comm, flag);
}

bool rp_ulfm_has_failed(MPI_Comm comm, int process)
{
    MPI_Group all, failed;
    int place = MPI_UNDEFINED;

    rp_real.Comm_group(comm, &all);
    if (real_get_failed(comm, &failed) == MPI_SUCCESS && failed != MPI_GROUP_EMPTY) {
        rp_real.Group_translate_ranks(all, 1, &process, failed, &place);
        rp_real.Group_free(&failed);
    }
    rp_real.Group_free(&all);
    return place != MPI_UNDEFINED;
}

double rp_ft_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *rp_ft_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "out of memory for %zu bytes in %s", bytes,
                  rp_ft.call ? rp_ft.call : "MPI");
    return memory;
}

static void path_of_ending(char path[4096])
{
    snprintf(path, 4096, "%s/ending",
             rp_setting("REPRISE_FT_DIR") ? rp_setting("REPRISE_FT_DIR") : "/nowhere");
}

void rp_ft_end_if_told(void)
{
    char path[4096];
    int status = 1;

    path_of_ending(path);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fscanf(file, "%d", &status) != 1)
        status = 1;
    rp_ft.on = false;
    _exit(status);
}

/* One process ends the job and says why: a launcher that several tell to may never end. The command
 * knows the status from the file, and sees to the launcher. */
static _Noreturn void end(int status, const char *why, bool tells_mpi)
{
    enum { PATIENCE = 8 };
    char path[4096];

    rp_ft.on = false;
    path_of_ending(path);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    bool is_other = fd < 0 && errno == EEXIST;
    if (fd >= 0)
        dprintf(fd, "%d\n", status);
    if (why && !is_other)
        rp_error("%s", why);
    if (is_other)
        sleep(PATIENCE);
    else if (tells_mpi && rp_real.Abort && MPI_COMM_WORLD) /* not of another MPI */
        rp_real.Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

void rp_ft_end(int status)
{
    end(status, NULL, true);
}

static _Noreturn void end_saying(int status, bool tells_mpi, const char *format, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, arguments);
    end(status, text, tells_mpi);
}

void rp_ft_die(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_saying(status, true, format, arguments);
}

void rp_ft_give_up(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_saying(status, false, format, arguments);
}

void rp_ft_refuse(const char *name)
{
    rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
              "%s is not supported by 'reprise ft': what it does could not be recovered", name);
}

void rp_ft_world_set(MPI_Comm world, const int *process_of)
{
    rp_ft.world = world;
    memcpy(rp_ft.process_of, process_of, (size_t)rp_ft.ranks * sizeof *process_of);
    rp_diagnostics_rank(rp_ft.rank);
}

/* Ranks are the first processes; the others wait, and those that were started later as well. */
static void share_out(bool is_new)
{
    int processes, process;

    rp_real.Comm_size(MPI_COMM_WORLD, &processes);
    rp_real.Comm_rank(MPI_COMM_WORLD, &process);
    rp_ft.ranks = (int)strtol(rp_setting("REPRISE_FT_RANKS") ? rp_setting("REPRISE_FT_RANKS") : "0",
                              NULL, 10);
    if (rp_ft.ranks < 1 || (rp_ft.ranks > processes && !is_new))
        rp_ft_die(REPRISE_EXIT_USAGE,
                  "%d processes were started for %d ranks: start the program by 'reprise ft mpirun "
                  "-n RANKS'",
                  processes, rp_ft.ranks);
    rp_ft.spares = is_new ? 0 : processes - rp_ft.ranks;
    rp_ft.rank = !is_new && process < rp_ft.ranks ? process : -1;
    rp_ft.process_of = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *rp_ft.process_of);
    for (int i = 0; i < rp_ft.ranks; i++)
        rp_ft.process_of[i] = i;
    rp_ft_channels = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *rp_ft_channels);
    for (int i = 0; i < rp_ft.ranks; i++)
        rp_ft_channels[i].setup_wanted = UINT64_MAX;
    rp_diagnostics_rank(rp_ft.rank);
}

/* Open MPI gives cores away at every poll where there are more processes than cores, whatever it is
 * told. It counts the spares, but these sleep. */
static void poll_as_told(void)
{
    const char *told = getenv("OMPI_MCA_mpi_yield_when_idle");
    bool (*set)(bool);

    find("opal_progress_set_yield_when_idle", &set);
    if (set && told)
        set(strcmp(told, "0") != 0);
}

/* Who died, if MPI tells, which may be a little later. */
static void find_dead(char text[64])
{
    const struct timespec pause = {0, 20000000};
    enum { TRIES = 50 };

    snprintf(text, 64, "a process");
    for (int try = 0; try < TRIES; try++, nanosleep(&pause, NULL))
        for (int i = 0; i < rp_ft.ranks + rp_ft.spares; i++)
            if (rp_ulfm_has_failed(MPI_COMM_WORLD, i)) {
                bool is_rank = i < rp_ft.ranks;
                snprintf(text, 64, "%s %d", is_rank ? "rank" : "spare",
                         is_rank ? i : i - rp_ft.ranks);
                return;
            }
}

/* Where the command can start the job again, it says what there is to say, and ends the others. */
static _Noreturn void cannot_begin(void)
{
    enum { PATIENCE = 60 };
    char who[64], path[4096];

    find_dead(who);
    if (!rp_ft_is_on_roll())
        rp_ft_die(REPRISE_EXIT_INTERNAL,
                  "%s died in MPI_Init: who is not out of it yet cannot be "
                  "replaced",
                  who);
    path_of_ending(path);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        dprintf(fd, "%d init %s\n", REPRISE_EXIT_INTERNAL, who);
    sleep(PATIENCE);
    _exit(REPRISE_EXIT_INTERNAL);
}

/*
 * All leave MPI_Init, or none: the agreement is the same for all who live. So a process that dies
 * before it leaves others that wait here, have computed nothing, and can be started again; one that
 * dies behind it is replaced.
 */
static void make_world(MPI_Comm joined)
{
    int ok = 1;

    rp_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rp_ft.world = joined;
    if (joined == MPI_COMM_NULL) {
        ok = rp_real.Comm_dup(MPI_COMM_WORLD, &rp_ft.world) == MPI_SUCCESS;
        ok = ok && rp_ft_copies_gather(rp_ft.world) == MPI_SUCCESS;
        if (rp_ulfm_agree(MPI_COMM_WORLD, &ok) != MPI_SUCCESS || !ok)
            cannot_begin();
    }
    rp_ft_inject_leaves();
    rp_ft_leave_init();
    rp_ft_clock_stop();
    rp_real.Comm_set_errhandler(rp_ft.world, MPI_ERRORS_RETURN);
    rp_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void start(void)
{
    rp_ft_exit_start();
    poll_as_told();
    MPI_Comm joined = rp_ft_respawn_join();
    share_out(joined != MPI_COMM_NULL);
    rp_ft_log_start();
    rp_ft_checkpoints_start();
    rp_ft_squeeze_start();
    make_world(joined);
    if (rp_ft.rank < 0) {
        if (joined != MPI_COMM_NULL)
            rp_ft_recover_in(joined);
        rp_ft_spare();
        if (rp_ft_ended) {
            rp_real.Finalize();
            _exit(0);
        }
        rp_ft.is_replacement = true;
    } else {
        rp_ft_wire_open();
    }
    rp_ft_comms_start();
    rp_ft_determinants_from(-1);
    rp_ft.on = true;
}

static void refuse_other_mpi(void)
{
    if (!rp_ulfm_find())
        rp_ft_give_up(REPRISE_EXIT_UNSUPPORTED,
                      "this MPI has no ULFM (MPIX_Comm_shrink): an Open MPI "
                      "5 with --with-ft=ulfm is needed; tools/ulfm --build makes one");
    if (!MPI_COMM_WORLD)
        rp_ft_give_up(REPRISE_EXIT_UNSUPPORTED,
                      "the program loaded MPI after its start (dlopen, as "
                      "Python's modules do): 'reprise ft' needs programs that are linked with it");
}

/* On one host the command knows of deaths sooner. */
static void enter(void)
{
    enum { PATIENCE = 300 };
    const char *text = rp_setting("REPRISE_FT_INIT_PATIENCE");
    int seconds = text ? (int)strtol(text, NULL, 10) : PATIENCE;

    rp_ft_real_find();
    refuse_other_mpi();
    rp_ft_inject_start();
    rp_ft_note_state(RP_PROCESS_ENTERS);
    rp_ft_inject_init();
    rp_ft_clock_start(seconds > 0 ? seconds : PATIENCE, "MPI_Init did not end",
                      "a process may have died before it was out of it, or be stopped "
                      "(REPRISE_FT_INIT_PATIENCE=SECONDS waits longer)");
}

int rp_ft_Init(int *argc, char ***argv)
{
    enter();
    int error = rp_real.Init(argc, argv);
    if (error == MPI_SUCCESS)
        start();
    rp_ft_clock_stop();
    return error;
}

int rp_ft_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    enter();
    int error =
        rp_real.Init_thread(argc, argv,
                            required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED,
                            provided);
    if (error == MPI_SUCCESS)
        start();
    rp_ft_clock_stop();
    if (*provided > MPI_THREAD_SERIALIZED)
        *provided = MPI_THREAD_SERIALIZED;
    return error;
}

/* Who comes out of the barrier knows that all are in here. */
int rp_ft_Finalize(void)
{
    if (setjmp(rp_ft_finalize_point) == 0) {
        rp_ft.finished = true;
        rp_ft_barrier(rp_ft_comm_of(MPI_COMM_WORLD));
        rp_ft.broken = true;
        for (;;)
            rp_ft_pause();
    }
    rp_ft_event("finished", "\"recoveries\": %u, \"log_peak\": %zu, \"iterations\": %ld",
                rp_ft_recoveries - 1, rp_ft_log_peak, rp_ft.iterations);
    rp_ft.on = false;
    rp_ft_files_wait();
    return rp_real.Finalize();
}

int rp_ft_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    rp_ft_end(code);
}
