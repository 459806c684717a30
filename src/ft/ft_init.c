/* SPDX-License-Identifier: MIT */
/*
 * The beginning and the end of MPI: which processes have a rank, and which are spares.
 *
 * libreprise-ft.so makes the program's MPI itself, on top of one real communicator that holds all
 * ranks and spares. Messages are matched with receives here, and collectives are algorithms over
 * messages: so all that the program does is messages in channels, one for each pair of ranks,
 * numbered from 0. The sender keeps each in its log until all ranks have said that their copies of
 * the receiver's next checkpoint are stored, or until the markers of the checkpoint after that.
 *
 * When a process dies, the survivors stay inside their calls. They make a new real communicator, in
 * which a spare has the dead one's rank, exchange how many messages of each channel arrived, and
 * send again what did not (ft_recover.c). The spare starts the program anew. It receives from the
 * logs, and what it sends is dropped as long as its receiver has it.
 *
 * A program's first session begins all that, too, by a real MPI_Init. MPI_Finalize ends it if no
 * session is open. Else, and in a program without MPI_Init, the program's exit does: another
 * session may be opened behind the last one, in one rank and not in others.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_checkpoint.h"
#include "ft/ft_collectives.h"
#include "ft/ft_comms.h"
#include "ft/ft_compression.h"
#include "ft/ft_copies.h"
#include "ft/ft_determinants.h"
#include "ft/ft_events.h"
#include "ft/ft_files.h"
#include "ft/ft_inject.h"
#include "ft/ft_log.h"
#include "ft/ft_loop.h"
#include "ft/ft_match.h"
#include "ft/ft_process.h"
#include "ft/ft_progress.h"
#include "ft/ft_recover.h"
#include "ft/ft_respawn.h"
#include "ft/ft_sessions.h"
#include "ft/ft_share.h"
#include "ft/ft_state.h"
#include "ft/ft_transmit.h"
#include "ft/ft_transport.h"
#include "ft/ft_ulfm.h"
#include "ft/ft_watchdog.h"
#include "job/settings.h"
#include "preload/constants.h"
#include "recovery/survivor.h"
#include "reprise.h"

/* What the program has called. */
static struct {
    bool init, finalize;
} called;

static void find(const char *name, void *slot)
{
    void *symbol = rp_library_symbol(name);

    memcpy(slot, &symbol, sizeof symbol);
}

/* Ranks are the first processes; the others wait, and those that were started later as well. */
static void assign_ranks(bool is_new)
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
    rp_diagnostics_process("rank", rp_ft.rank);
}

/* Open MPI yields the core at every poll if there are more processes than cores, whatever the user
 * sets. It counts the spares, but these sleep. */
static void set_yielding(void)
{
    const char *wanted = getenv("OMPI_MCA_mpi_yield_when_idle");
    bool (*set)(bool);

    find("opal_progress_set_yield_when_idle", &set);
    if (set && wanted)
        set(strcmp(wanted, "0") != 0);
}

/* Names the dead process, if MPI knows it, which may be a little later. */
static void find_dead(char text[64])
{
    const struct timespec pause = {0, 20000000};
    enum { TRIES = 50 };

    snprintf(text, 64, "a process");
    for (int try = 0; try < TRIES; try++, nanosleep(&pause, NULL))
        for (int i = 0; i < rp_ft.ranks + rp_ft.spares; i++)
            if (rp_ft_has_failed(MPI_COMM_WORLD, i)) {
                bool is_rank = i < rp_ft.ranks;
                snprintf(text, 64, "%s %d", is_rank ? "rank" : "spare",
                         is_rank ? i : i - rp_ft.ranks);
                return;
            }
}

/* Where the command can start the job again, it prints the message, and ends the others. */
static _Noreturn void cannot_begin(void)
{
    char who[64];

    find_dead(who);
    if (!rp_survivor.progress)
        rp_ft_die(REPRISE_EXIT_INTERNAL,
                  "%s died in MPI_Init: who is not out of it yet cannot be "
                  "replaced",
                  who);
    rp_ft_end_in_init(who);
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
        if (rp_ulfm.agree(MPI_COMM_WORLD, &ok) != MPI_SUCCESS || !ok)
            cannot_begin();
    }
    rp_ft_inject_leaves_init();
    rp_survivor_leave_init();
    rp_ft_watchdog_stop();
    rp_real.Comm_set_errhandler(rp_ft.world, MPI_ERRORS_RETURN);
    rp_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void start_parts(void)
{
    rp_ft_channels_start();
    rp_ft_log_start();
    rp_ft_share_start();
    rp_ft_transmit_start();
    rp_ft_match_start();
    rp_ft_progress_start(rp_ft_recover);
    rp_ft_checkpoints_start();
    rp_ft_loop_start();
    rp_ft_compression_start();
}

static int finish(void);

static void end_behind_sessions(void)
{
    if (!rp_ft.on || rp_ft_sessions_are_open() || (called.init && !called.finalize))
        return;
    rp_ft.call = "the end of the program";
    finish();
}

static void start(void)
{
    rp_ft_process_start(end_behind_sessions);
    set_yielding();
    MPI_Comm joined = rp_ft_respawn_join();
    assign_ranks(joined != MPI_COMM_NULL);
    start_parts();
    make_world(joined);
    if (rp_ft.rank < 0) {
        if (joined != MPI_COMM_NULL)
            rp_ft_recover_in(joined);
        rp_ft_spare();
        if (rp_ft.ended) {
            rp_real.Finalize();
            _exit(0);
        }
        rp_ft.is_replacement = true;
    } else {
        rp_ft_share_begin_world();
        rp_ft_transport_open();
    }
    rp_ft_comms_start();
    rp_ft_determinants_from(-1);
    rp_ft.on = true;
}

static void refuse_other_mpi(void)
{
    if (!rp_library_symbol("ompi_mpi_comm_world"))
        rp_ft_give_up(REPRISE_EXIT_UNSUPPORTED, "this MPI is not Open MPI: an Open MPI 5 with "
                                                "--with-ft=ulfm is needed; tools/ulfm --build "
                                                "makes one");
    if (!rp_ulfm_find(rp_library_symbol))
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
    rp_survivor_note_state(RP_PROCESS_ENTERS);
    rp_ft_inject_init(rp_survivor.progress != NULL);
    rp_ft_watchdog_start(seconds > 0 ? seconds : PATIENCE, "MPI_Init did not end",
                         "a process may have died before it was out of it, or be stopped "
                         "(REPRISE_FT_INIT_PATIENCE=SECONDS waits longer)");
}

static int init(int *argc, char ***argv)
{
    enter();
    int error = rp_real.Init(argc, argv);
    if (error == MPI_SUCCESS)
        start();
    rp_ft_watchdog_stop();
    return error;
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
    enter();
    int error =
        rp_real.Init_thread(argc, argv,
                            required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED,
                            provided);
    if (error == MPI_SUCCESS)
        start();
    rp_ft_watchdog_stop();
    return error;
}

/* Returns whether a session has begun all that MPI_Init does. */
static bool is_begun(void)
{
    bool is_first = !called.init;

    called.init = true;
    return rp_ft.on && is_first;
}

int rp_ft_Init(int *argc, char ***argv)
{
    return is_begun() ? MPI_SUCCESS : init(argc, argv);
}

int rp_ft_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int error =
        is_begun() ? rp_real.Query_thread(provided) : init_thread(argc, argv, required, provided);

    if (*provided > MPI_THREAD_SERIALIZED)
        *provided = MPI_THREAD_SERIALIZED;
    return error;
}

int rp_ft_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    int provided, error = MPI_SUCCESS;

    if (rp_ft.finished && !rp_ft.on)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "MPI_Session_init behind MPI_Finalize: reprise ft has ended there, because no "
                  "session was open");
    if (!rp_ft.on)
        error = init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    return error == MPI_SUCCESS ? rp_ft_session_open(info, handler, session) : error;
}

int rp_ft_Initialized(int *flag)
{
    *flag = called.init;
    return MPI_SUCCESS;
}

int rp_ft_Finalized(int *flag)
{
    *flag = called.finalize;
    return MPI_SUCCESS;
}

/* A rank that leaves the barrier knows that all ranks are in MPI_Finalize. */
static int finish(void)
{
    if (setjmp(rp_ft_finalize_point) == 0) {
        rp_ft.finished = true;
        rp_ft_barrier(rp_ft_comm_world());
        rp_ft.broken = true;
        for (;;)
            rp_ft_pause();
    }
    rp_ft_event("finished", "\"recoveries\": %u, \"log_peak\": %zu, \"iterations\": %ld",
                rp_ft.recoveries - 1, rp_ft_log_peak(), rp_ft.iterations);
    rp_ft.on = false;
    rp_ft_files_wait();
    return rp_real.Finalize();
}

int rp_ft_Finalize(void)
{
    int error = rp_ft_sessions_are_open() ? MPI_SUCCESS : finish();

    called.finalize = true;
    return error;
}

int rp_ft_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    rp_ft_end(code);
}
