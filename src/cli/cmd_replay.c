/* SPDX-License-Identifier: MIT */
/* reprise replay: runs the recorded command again and holds it to its record. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/progressline.h"
#include "cli/shufflerun.h"
#include "cli/solorun.h"
#include "cli/tasksrun.h"
#include "cli/recorded_env.h"
#include "event/describe.h"
#include "log/jobs.h"
#include "log/manifest.h"
#include "log/refusal.h"
#include "log/replaystate.h"
#include "log/rundir.h"
#include "log/taskrecord.h"
#include "reprise.h"

static const char *at_end, *stall, *force, *mpi, *allow, *gdb, *shuffle;

static const struct rp_option options[] = {
    {"--at-end", NULL, "WHAT",
     "what a rank does at the end of its record: stop (default), gdb or continue", &at_end},
    {"--gdb", NULL, "RANKS",
     "open gdb for these ranks, such as 0,4-7: in tmux or screen, else by gdbserver, else print "
     "the process id",
     &gdb},
    {"--stall", NULL, "SECONDS",
     "after so long without progress, say who waits for what; 0: never (default 30)", &stall},
    {"--force", NULL, NULL, "replay although the program is another build", &force},
    {"--shuffle", NULL, NULL,
     "take messages of commutative regions in another order and compare the results", &shuffle},
    {"--mpi", NULL, "MPI", "openmpi, mpich or abi, where it cannot be seen from the program", &mpi},
    {"--allow", NULL, "F[,F]", "let these refused MPI functions through", &allow},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

struct replay {
    char *directory;
    struct rp_manifest manifest;
    struct rp_jobs jobs;
    char **command;
    char state_path[4096];
    struct rp_replay_state *state;
    uint64_t last_done;
    time_t last_progress;
    long patience;
    time_t given_up;      /* since when a rank has ended the job; 0: none has */
    bool signalled;       /* the launcher got SIGTERM */
    bool has_line;        /* of progress, on a terminal */
    bool is_shown;        /* says what became of it */
    void (*step)(void *); /* called while it runs, with step_data; may be NULL */
    void *step_data;
};

static bool is_run(const char *word)
{
    struct rp_problem ignored;
    struct rp_manifest manifest;
    char *directory;

    if (rp_run_find(word, &directory, &ignored) != RP_OK)
        return false;
    bool found = rp_manifest_read(directory, &manifest, &ignored) != RP_USAGE;
    if (found)
        rp_manifest_free(&manifest);
    found |= rp_task_record_is(directory);
    free(directory);
    return found;
}

static void apply_options(void)
{
    if (at_end)
        setenv("REPRISE_AT_END", at_end, 1);
    if (gdb)
        setenv("REPRISE_GDB", gdb, 1);
    char *script = rp_setting("REPRISE_GDB") ? rp_launch_gdb_script() : NULL;
    if (script)
        setenv("REPRISE_GDB_SCRIPT", script, 1);
    free(script);
    if (stall)
        setenv("REPRISE_STALL", stall, 1);
    else if (rp_setting("REPRISE_GDB"))
        setenv("REPRISE_STALL", "0", 0); /* whoever debugs takes their time */
    if (force)
        setenv("REPRISE_FORCE", "1", 1);
    if (allow)
        setenv("REPRISE_ALLOW", allow, 1);
    if (shuffle && !rp_setting("REPRISE_SHUFFLE")) {
        char seed[32];
        snprintf(seed, sizeof seed, "%ld", (long)time(NULL) % 1000000 + 1);
        setenv("REPRISE_SHUFFLE", seed, 1);
    }
    if (!mpi)
        mpi = rp_setting("REPRISE_MPI");
    setenv("REPRISE_MODE", "replay", 1);
}

/* Returns whether the record is one of tasks. If so, replays it, which the program does by itself,
 * and sets *exit_status. */
static bool is_of_tasks(const char *name, char **command, int *exit_status)
{
    struct rp_problem ignored;
    char *directory;

    if (rp_run_find(name ? name : rp_setting("REPRISE_RUN"), &directory, &ignored) != RP_OK)
        return false;
    bool found = rp_task_record_is(directory);
    if (found) {
        if (rp_setting("REPRISE_SHUFFLE"))
            rp_note("shuffled by seed %s: REPRISE_SHUFFLE=%s does the same again",
                    rp_setting("REPRISE_SHUFFLE"), rp_setting("REPRISE_SHUFFLE"));
        *exit_status = rp_tasks_replay(command, directory);
    }
    free(directory);
    return found;
}

static enum rp_status check_options(struct replay *r, struct rp_problem *why)
{
    const char *word = rp_setting("REPRISE_AT_END");

    if (word && strcmp(word, "stop") != 0 && strcmp(word, "gdb") != 0 &&
        strcmp(word, "continue") != 0)
        return rp_fail(why, RP_USAGE, "--at-end %s: stop, gdb or continue is expected", word);
    word = rp_setting("REPRISE_GDB");
    if (word && (strcmp(word, "all") == 0 || !rp_ranks_are_good(word)))
        return rp_fail(why, RP_USAGE, "--gdb %s: ranks are expected, such as 0,4-7", word);
    return rp_setting_number("REPRISE_STALL", 0, 30, &r->patience, why);
}

/* Fails if --gdb names ranks that the record does not have. */
static enum rp_status check_gdb(const struct replay *r, struct rp_problem *why)
{
    char *beyond = rp_ranks_beyond(rp_setting("REPRISE_GDB"), r->manifest.ranks);
    enum rp_status status =
        beyond ? rp_fail(why, RP_USAGE, "--gdb %s: %s has ranks 0 to %u, and no %s",
                         rp_setting("REPRISE_GDB"), r->directory, r->manifest.ranks - 1, beyond)
               : RP_OK;

    free(beyond);
    return status;
}

static enum rp_status find_run(struct replay *r, const char *name, struct rp_problem *why)
{
    enum rp_status status =
        rp_run_find(name ? name : rp_setting("REPRISE_RUN"), &r->directory, why);

    if (status == RP_OK)
        status = rp_manifest_read(r->directory, &r->manifest, why);
    if (status == RP_OK)
        status = rp_job_refuse(r->directory, &r->manifest, why);
    if (status == RP_OK)
        setenv("REPRISE_RUN", r->directory, 1);
    if (status == RP_OK)
        rp_launch_as_recorded(&r->manifest);
    return status;
}

/* Sets r->command to the recorded command. Changes to the directory where it was recorded, unless
 * this process is inside a launcher, as the recording was. */
static enum rp_status take_recorded_command(struct replay *r, struct rp_problem *why)
{
    if (r->manifest.launched_inside && rp_launch_is_inside() && r->manifest.command[0]) {
        r->command = r->manifest.command;
        return RP_OK;
    }
    if (r->manifest.launched_inside)
        return rp_fail(why, RP_USAGE,
                       "%s was recorded inside a launcher, whose command line is not known: start "
                       "it the same way, e.g. "
                       "'mpirun -n %u reprise replay %s %s'",
                       r->directory, r->manifest.ranks, r->directory,
                       r->manifest.command[0] ? r->manifest.command[0] : "PROGRAM");
    if (!r->manifest.command[0])
        return rp_fail(why, RP_USAGE, "%s does not know its command line: give it", r->directory);
    if (chdir(r->manifest.directory) != 0)
        return rp_fail(why, RP_USAGE, "%s was recorded in %s: %s", r->directory,
                       r->manifest.directory, strerror(errno));
    r->command = r->manifest.command;
    return RP_OK;
}

/* Fails if the log of a rank is missing. Called before anything is started. */
static enum rp_status check_logs(const struct replay *r, struct rp_problem *why)
{
    for (uint32_t i = 0; i < r->jobs.processes; i++) {
        char path[4200], name[RP_PROCESS_NAME];
        uint32_t rank;
        const struct rp_job *job = rp_jobs_of(&r->jobs, i, &rank);
        snprintf(path, sizeof path, "%s/rank-%05u.log", job->directory, rank);
        if (access(path, R_OK) != 0)
            return rp_fail(why, RP_DAMAGED, "rank %s: %s: %s",
                           rp_process_name(job->name, rank, name), path, strerror(errno));
    }
    return RP_OK;
}

static enum rp_status make_state(struct replay *r, struct rp_problem *why)
{
    const char *temporary = getenv("TMPDIR");

    snprintf(r->state_path, sizeof r->state_path, "%s/replay-%d.state", r->directory,
             (int)getpid());
    if (rp_state_create_for(r->state_path, &r->jobs, why) != RP_OK) {
        snprintf(r->state_path, sizeof r->state_path, "%s/reprise-%d.state",
                 temporary ? temporary : "/tmp", (int)getpid());
        enum rp_status status = rp_state_create_for(r->state_path, &r->jobs, why);
        if (status != RP_OK)
            return status;
    }
    setenv("REPRISE_STATE", r->state_path, 1);
    setenv("REPRISE_PARENT", "1", 1);
    return rp_state_map(r->state_path, r->jobs.processes, &r->state, why);
}

static void show_progress(const struct rp_replay_state *state)
{
    uint64_t done, total;
    uint32_t slowest = rp_state_slowest(state);
    char text[400], what[RP_STATE_WHAT];

    rp_state_sum(state, &done, &total);
    if (total == 0 || slowest == state->ranks)
        return;
    const struct rp_rank_slot *slot = &state->rank[slowest];
    bool waits = rp_state_now(slot) == RP_RANK_WAITING;
    snprintf(text, sizeof text,
             "reprise: %.0f %% of %llu events on %u ranks; slowest is rank %s: %.0f %%, %s%s%s",
             100.0 * (double)done / (double)total, (unsigned long long)total, state->ranks,
             slot->name, 100.0 * (double)slot->done / (double)slot->total,
             rp_state_word(rp_state_now(slot)), waits ? " in " : "",
             waits ? rp_state_what(slot, what) : "");
    rp_progress_line_show(text);
}

static uint32_t count_in(const struct rp_replay_state *state, enum rp_rank_state wanted)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->ranks; i++)
        count += state->rank[i].state == (uint32_t)wanted;
    return count;
}

/* Returns whether a rank ended the job. A rank that found another digest in MPI_Finalize did not:
 * all ranks are there, and it goes on. */
static bool is_given_up(const struct rp_replay_state *state)
{
    uint32_t past = count_in(state, RP_RANK_FINISHED) + count_in(state, RP_RANK_DIVERGED);

    return state->stopped || count_in(state, RP_RANK_FAILED) > 0 ||
           (count_in(state, RP_RANK_DIVERGED) > 0 && past < state->ranks);
}

/* Ends the launcher some seconds after a rank ended the job. Open MPI's launcher sometimes hangs
 * then, though all ranks have ended. */
static void end_launcher(struct replay *r, time_t now)
{
    enum { PATIENCE = 8, MORE = 4 };

    if (!is_given_up(r->state)) {
        r->given_up = 0;
        return;
    }
    if (r->given_up == 0)
        r->given_up = now;
    if (now - r->given_up > PATIENCE + MORE)
        rp_launch_signal(SIGKILL);
    else if (now - r->given_up > PATIENCE && !r->signalled) {
        rp_launch_signal(SIGTERM);
        r->signalled = true;
    }
}

/* Called some times a second. Shows progress, and prints where all ranks are if none has replayed
 * anything for long. Ranks report their own waits; this is for ranks that hang where reprise does
 * not wait itself, in a collective or a send. */
static void watch(void *data)
{
    struct replay *r = data;
    uint64_t done, total;
    time_t now = time(NULL);

    if (r->step)
        r->step(r->step_data);
    end_launcher(r, now);
    if (r->has_line && rp_progress_line_due())
        show_progress(r->state);
    rp_state_sum(r->state, &done, &total);
    if (done != r->last_done || r->last_progress == 0 || r->patience == 0) {
        r->last_done = done;
        r->last_progress = now;
        return;
    }
    if (now - r->last_progress < 2 * r->patience)
        return;
    struct rp_buffer text = {0};
    rp_state_print(r->state, &text);
    rp_buffer_byte(&text, 0);
    rp_progress_line_clear();
    if (!text.failed)
        rp_note("no rank has replayed anything for %ld s:\n%s", (long)(now - r->last_progress),
                (char *)text.bytes);
    rp_buffer_free(&text);
    r->last_progress = now;
}

static bool is_own(int status)
{
    return status >= REPRISE_EXIT_USAGE && status <= REPRISE_EXIT_INTERNAL;
}

static void say_where_it_stopped(const struct rp_replay_state *state)
{
    for (uint32_t i = 0; i < state->ranks; i++)
        if (state->rank[i].done < state->rank[i].total) {
            rp_error("rank %s stopped after event %llu of %llu", state->rank[i].name,
                     (unsigned long long)state->rank[i].done,
                     (unsigned long long)state->rank[i].total);
            return;
        }
}

static bool was_refused(const struct replay *r)
{
    struct rp_buffer text = {0};
    bool refused = rp_refusal_describe(r->directory, r->state, &text);

    if (refused && r->is_shown && !text.failed)
        rp_error("%s", (char *)text.bytes);
    rp_buffer_free(&text);
    return refused;
}

static bool is_complete(const struct rp_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (!jobs->job[i].manifest.complete)
            return false;
    return true;
}

/* Returns whether a job of the record was not spawned, though its root ran to its end. */
static bool is_unspawned(const struct replay *r)
{
    for (size_t i = 1; i < r->jobs.count; i++) {
        const struct rp_job *job = &r->jobs.job[i];
        const char *dot = strrchr(job->name, '.');
        char root[RP_PROCESS_NAME];
        snprintf(root, sizeof root, "%.*s", (int)(dot - job->name), job->name);
        uint32_t slot = rp_state_find(r->state, root);
        if (r->state->rank[job->first].state != RP_RANK_UNSPAWNED || slot == r->state->ranks ||
            r->state->rank[slot].state != RP_RANK_FINISHED)
            continue;
        if (r->is_shown)
            rp_error("rank %s did not spawn the job %s, which the record has", root, job->name);
        return true;
    }
    return false;
}

/* Returns the first process that has not reached MPI_Finalize, of those that did in the record;
 * NULL if there is none. */
static const struct rp_rank_slot *find_unfinished(const struct replay *r)
{
    for (size_t i = 0; i < r->jobs.count; i++)
        for (uint32_t k = 0; r->jobs.job[i].manifest.complete && k < r->jobs.job[i].manifest.ranks;
             k++) {
            const struct rp_rank_slot *rank = &r->state->rank[r->jobs.job[i].first + k];
            if (rank->state != RP_RANK_FINISHED)
                return rank;
        }
    return NULL;
}

/* Returns whether a rank was killed behind its last event. One that ends by itself there says so.
 */
static bool is_cut_off(const struct replay *r)
{
    const struct rp_rank_slot *rank = find_unfinished(r);

    if (!rank || r->state->stopped || at_end || rp_setting("REPRISE_GDB"))
        return false;
    if (r->is_shown)
        rp_error("rank %s ended before MPI_Finalize, which it called in the record: NOT identical",
                 rank->name);
    return true;
}

/* Returns the exit status of the replay, from that of the launcher and the state of the ranks.
 * Prints what it means if the replay is shown. */
static int verdict(const struct replay *r, int status)
{
    uint64_t done, total;
    uint32_t processes = r->jobs.processes;
    char ranks[RP_RANKS_WORDS];

    rp_state_ranks(r->state, ranks);
    rp_state_sum(r->state, &done, &total);
    if (r->state->left_with != 0)
        return r->state->left_with; /* said by the rank that found it */
    if (count_in(r->state, RP_RANK_DIVERGED) > 0)
        return REPRISE_EXIT_DIVERGED;
    if (count_in(r->state, RP_RANK_FAILED) > 0)
        return is_own(status) ? status : REPRISE_EXIT_DIVERGED;
    if (count_in(r->state, RP_RANK_ABSENT) + count_in(r->state, RP_RANK_UNSPAWNED) == processes) {
        if (!is_own(status) && r->is_shown)
            rp_error("nothing was replayed: no process of '%s' called MPI_Init under reprise",
                     r->command[0]);
        return status ? status : REPRISE_EXIT_UNSUPPORTED;
    }
    if (done == total && was_refused(r))
        return REPRISE_EXIT_UNSUPPORTED;
    if (r->state->stopped == RP_STOPPED_SHORT) {
        if (r->is_shown)
            rp_error("replayed %llu of %llu events on %s: identical, but the rest needs "
                     "ranks whose record ended before",
                     (unsigned long long)done, (unsigned long long)total, ranks);
        return REPRISE_EXIT_DAMAGED;
    }
    if (is_own(status) && (done != total || count_in(r->state, RP_RANK_ABSENT) > 0))
        return status; /* said by the rank that found it */
    if (done != total) {
        if (r->is_shown) {
            rp_error("replayed %llu of %llu events on %s: NOT identical", (unsigned long long)done,
                     (unsigned long long)total, ranks);
            say_where_it_stopped(r->state);
        }
        return REPRISE_EXIT_DIVERGED;
    }
    if (is_unspawned(r) || is_cut_off(r))
        return REPRISE_EXIT_DIVERGED;
    bool whole = is_complete(&r->jobs) && count_in(r->state, RP_RANK_FINISHED) == processes;
    if (r->is_shown)
        rp_note("replayed %llu events on %s: identical%s", (unsigned long long)done, ranks,
                whole ? "" : " up to the end of the record");
    if (r->is_shown && whole && total == 0)
        rp_note(RP_NOTHING_OPEN);
    if (rp_setting("REPRISE_SHUFFLE") && !rp_setting("REPRISE_GIVEN"))
        rp_note("of this shuffled replay, what was received from whom was compared, and not what "
                "was sent, computed or printed: that is compared without --gdb and --at-end, of "
                "records by events");
    return r->state->stopped ? 0 : status;
}

static int run_once(struct replay *r)
{
    struct rp_problem why;
    enum rp_status status = make_state(r, &why);

    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        return rp_exit_status(status);
    }
    r->has_line = r->is_shown && rp_progress_line_wanted();
    r->last_done = 0;
    r->last_progress = 0;
    r->given_up = 0;
    r->signalled = false;
    int launched = rp_launch_run(r->command, watch, r);
    rp_progress_line_clear();
    int exit_status = verdict(r, launched);
    if (exit_status == REPRISE_EXIT_DIVERGED && r->is_shown)
        rp_recorded_env_say_others(r->manifest.environment);
    unlink(r->state_path);
    rp_state_unmap(r->state);
    return exit_status;
}

static int run_for_shuffle(void *data, bool is_shown, void (*step)(void *), void *step_data)
{
    struct replay *r = data;

    r->is_shown = is_shown;
    r->step = step;
    r->step_data = step_data;
    return run_once(r);
}

static int run_outside(struct replay *r)
{
    struct rp_shuffled shuffled = {r->directory, r->manifest.ranks, r->manifest.complete,
                                   run_for_shuffle, r};
    struct rp_problem why;
    enum rp_status status = rp_jobs_read(r->directory, &r->jobs, &why);

    if (status == RP_OK)
        status = check_logs(r, &why);
    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        return rp_exit_status(status);
    }
    r->is_shown = true;
    return rp_setting("REPRISE_GIVEN") ? rp_shuffle_run_run(&shuffled) : run_once(r);
}

/* Returns whether the replay is compared with one in the recorded order: it is shuffled, and nobody
 * debugs it. */
static bool is_compared(void)
{
    return rp_setting("REPRISE_SHUFFLE") && strcmp(rp_setting("REPRISE_SHUFFLE"), "0") != 0 &&
           strcmp(rp_setting("REPRISE_MODE"), "replay") == 0 && !rp_setting("REPRISE_GDB") &&
           !rp_setting("REPRISE_AT_END");
}

static bool has_children(const char *directory)
{
    struct rp_jobs jobs;
    struct rp_problem ignored;
    bool has = rp_jobs_read(directory, &jobs, &ignored) == RP_OK && jobs.count > 1;

    rp_jobs_free(&jobs);
    return has;
}

/* Fails if the record of a program that made windows cannot be replayed in this way: not all ranks
 * have data, or an option needs a launcher. `with_data`: the number of ranks with data. */
static enum rp_status check_windows(const struct replay *r, uint32_t with_data,
                                    struct rp_problem *why)
{
    const char *option = r->command ? "COMMAND"
                         : at_end   ? "--at-end"
                         : gdb      ? "--gdb"
                         : shuffle  ? "--shuffle"
                                    : NULL;

    if (has_children(r->directory))
        return rp_fail(why, RP_UNSUPPORTED,
                       "%s is of a program with one-sided communication that spawned children: "
                       "'reprise solo -r RANK' replays one rank",
                       r->directory);
    if (with_data < r->manifest.ranks)
        return rp_fail(why, RP_USAGE,
                       "%s is of a program with one-sided communication, and has the data of only "
                       "%u of %u ranks ('record --ranks all' records it of all): 'reprise solo -r "
                       "RANK' replays one of them",
                       r->directory, with_data, r->manifest.ranks);
    if (option)
        return rp_fail(why, RP_USAGE,
                       "%s: %s is of a program with one-sided communication, whose ranks are "
                       "replayed each alone, without a launcher; 'reprise solo' does so in a "
                       "debugger or with another command",
                       option, r->directory);
    return RP_OK;
}

/* Returns whether the program made windows. If so, replays each rank alone with its own data, and
 * sets *exit_status. */
static bool is_alone(const struct replay *r, int *exit_status)
{
    struct rp_problem why;
    uint32_t with_data;
    bool windows;
    enum rp_status status = rp_solo_look(r->directory, &r->manifest, &windows, &with_data, &why);

    if (status == RP_OK && !windows)
        return false;
    if (status == RP_OK)
        status = check_windows(r, with_data, &why);
    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        *exit_status = rp_exit_status(status);
        return true;
    }
    unsetenv("REPRISE_MODE");
    struct rp_solo solo = {.directory = r->directory,
                           .manifest = &r->manifest,
                           .ranks = "all",
                           .mpi = mpi,
                           .force = force != NULL};
    *exit_status = rp_solo_run_all(&solo);
    return true;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct replay r = {0};
    struct rp_problem why;
    int first = rp_options_parse(command, argc, argv);
    bool inside = rp_launch_is_inside();
    const char *name = NULL;

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    bool separated = first > 0 && strcmp(argv[first - 1], "--") == 0;
    if (!separated && first < argc &&
        (is_run(argv[first]) || (first + 1 == argc && access(argv[first], X_OK) != 0))) {
        name = argv[first];
        int more = rp_options_parse(command, argc - first - 1, argv + first + 1);
        if (more < 0)
            return REPRISE_EXIT_USAGE;
        first += 1 + more;
    }
    apply_options();
    int exit_status = 0;
    if (!inside && is_of_tasks(name, first < argc ? argv + first : NULL, &exit_status))
        return exit_status;
    enum rp_status status = check_options(&r, &why);
    if (status == RP_OK)
        status = find_run(&r, name, &why);
    if (status == RP_OK)
        status = check_gdb(&r, &why);
    r.command = first < argc ? argv + first : NULL;
    if (status == RP_OK && !inside && is_alone(&r, &exit_status)) {
        rp_manifest_free(&r.manifest);
        free(r.directory);
        return exit_status;
    }
    if (status == RP_OK && !inside)
        rp_recorded_env_take(r.manifest.environment);
    if (status == RP_OK && !r.command)
        status = take_recorded_command(&r, &why);
    if (status == RP_OK && !inside && is_compared())
        rp_shuffle_run_prepare();
    if (status == RP_OK)
        status = rp_launch_preload(mpi, r.manifest.mpi, r.command, &why);
    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        return rp_exit_status(status);
    }
    exit_status = inside ? rp_launch_become(r.command) : run_outside(&r);
    rp_jobs_free(&r.jobs);
    rp_manifest_free(&r.manifest);
    free(r.directory);
    return exit_status;
}

const struct rp_command rp_command_replay = {
    .name = "replay",
    .synopsis = "[options] [RUN] [[--] COMMAND [ARGUMENT...]]",
    .about = "run a recorded program again, exactly as it was",
    .more = "RUN is a directory, a name in .reprise, or 'latest', which is the default. Without "
            "COMMAND, the recorded command runs:\n\n"
            "  reprise replay\n"
            "  reprise replay app-3\n"
            "  mpirun -n 4 reprise replay app-3 ./app\n\n"
            "Ends with 'replayed N events on M ranks: identical', or with the first difference and "
            "exit status 121.",
    .options = options,
    .run = run,
};
