/* SPDX-License-Identifier: MIT */
/*
 * A rank alone is one process without a launcher. Its MPI calls are fed with the recorded results,
 * from its data log. It makes events as it did when it was recorded. At the end these are compared
 * with the recorded ones.
 */
#include "cli/solorun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "log/secret_names.h"
#include "job/job_names.h"
#include "job/settings.h"
#include "cli/launch.h"
#include "log/accesslog.h"
#include "log/datareader.h"
#include "log/logreader.h"
#include "log/logwriter.h"
#include "log/refusal.h"
#include "log/rundir.h"
#include "reprise.h"

/* Stays until the next call. */
static const char *name_of(const struct rp_solo *s, uint32_t rank)
{
    static char name[RP_PROCESS_NAME];

    return rp_process_name(s->manifest->job, rank, name);
}

/* Returns whether the replay keeps the caller's value of a variable ("NAME=VALUE"), since it
 * belongs to the terminal. All other variables are those of the recorded rank. */
static bool is_todays(const char *variable)
{
    static const char *const names[] = {
        "TERM",       "COLUMNS",         "LINES",           "DISPLAY",
        "XAUTHORITY", "WAYLAND_DISPLAY", "REPRISE_LIBRARY", "DEBUGINFOD_URLS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0 && variable[strlen(names[i])] == '=')
            return true;
    return false;
}

/* Returns a list of LD_PRELOAD without the libraries of reprise; to be freed. */
static char *foreign_preloads(const char *list)
{
    char *copy = strdup(list), *rest = copy, *word, *out = calloc(1, strlen(list) + 2);

    while (copy && out && (word = strsep(&rest, ": ")))
        if (*word && !strstr(word, "libreprise"))
            sprintf(out + strlen(out), "%s%s", *out ? ":" : "", word);
    free(copy);
    return out;
}

/* Sets a recorded variable ("NAME=VALUE"), except for settings and libraries of reprise. */
static void set_variable(const char *text)
{
    size_t length = strcspn(text, "=");
    char *name = strndup(text, length);

    if (!name || text[length] != '=') {
        free(name);
        return;
    }
    if (strcmp(name, "LD_PRELOAD") == 0) {
        char *list = foreign_preloads(text + length + 1);
        if (list && *list)
            setenv(name, list, 1);
        free(list);
    } else if (strncmp(name, "REPRISE_", 8) != 0) {
        setenv(name, text + length + 1, 1);
    }
    free(name);
}

/* Returns whether a variable of the caller stays. Variables with names of secrets were not
 * recorded. With --no-environment no variables were: then `recorded` is empty, while a recorded
 * environment never is. */
static bool stays(const char *variable, char *const *recorded)
{
    return is_todays(variable) || (!*recorded && strncmp(variable, "REPRISE_", 8) != 0) ||
           rp_secret_is_named(variable, strcspn(variable, "="));
}

/* Replaces the environment by the recorded one, but for the variables that stay. */
static void take_environment(char **recorded)
{
    size_t count = 0, all = 0;

    while (environ[all])
        all++;
    char **todays = calloc(all + 1, sizeof *todays);
    for (char **v = environ; todays && *v; v++)
        if (stays(*v, recorded))
            todays[count++] = strdup(*v);
    clearenv();
    for (char **v = recorded; *v; v++)
        if (!is_todays(*v))
            set_variable(*v);
    for (size_t i = 0; i < count; i++)
        if (todays[i])
            putenv(todays[i]);
    free(todays);
}

/* Sets the settings by which the libraries replay this rank. `output`: where its events go;
 * `accesses`: where its accesses go, or NULL. */
static void set_rank(const struct rp_solo *s, uint32_t rank, const char *output,
                     const char *accesses)
{
    char number[16];

    snprintf(number, sizeof number, "%u", rank);
    setenv("REPRISE_MODE", "record", 1);
    setenv("REPRISE_SOLO", number, 1);
    setenv("REPRISE_RUN", s->directory, 1);
    setenv("REPRISE_OUTPUT", output, 1);
    if (*s->manifest->capture)
        setenv("REPRISE_CAPTURE", s->manifest->capture, 1);
    if (*s->manifest->threads)
        setenv("REPRISE_THREADS", "1", 1);
    if (s->force)
        setenv("REPRISE_FORCE", "1", 1);
    if (accesses)
        setenv("REPRISE_WHO", accesses, 1);
}

/* Sets REPRISE_CALLED, so that the program sees its recorded name also if a debugger starts it: the
 * name of its file, a slash, and the name that it was started by. */
static void set_name(const struct rp_data_place *place)
{
    const char *slash = place->program ? strrchr(place->program, '/') : NULL;
    char *called = NULL;

    if (slash && place->arguments[0] &&
        asprintf(&called, "%s/%s", slash + 1, place->arguments[0]) > 0)
        setenv("REPRISE_CALLED", called, 1);
    free(called);
}

/* Turns off the check of the build id if the rank ran another program than rank 0, since the record
 * has only the build id of rank 0's program. */
static void set_build(const struct rp_solo *s, const struct rp_data_place *place)
{
    if (place->program && strcmp(place->program, s->manifest->program) != 0)
        setenv("REPRISE_FORCE", "1", 1);
}

/* Returns the path where this process writes the accesses of a rank, until it is known that the
 * rank did what was recorded; to be freed. */
static char *unproved_accesses(const struct rp_solo *s, uint32_t rank)
{
    char *path = rp_access_path(s->directory, rank), *unproved = NULL;

    if (path && asprintf(&unproved, "%s.%d", path, (int)getpid()) < 0)
        unproved = NULL;
    free(path);
    return unproved;
}

/* Moves the accesses to their place in the record, over those of an earlier run, which were the
 * same. */
static enum rp_status keep_accesses(const struct rp_solo *s, uint32_t rank, const char *unproved,
                                    struct rp_problem *why)
{
    char *path = rp_access_path(s->directory, rank);
    enum rp_status status = RP_OK;

    if (!path || rename(unproved, path) != 0)
        status = rp_fail(why, RP_SYSTEM, "%s: %s", unproved, strerror(errno));
    free(path);
    return status;
}

/* Returns the recorded arguments; to be freed. Sets *name to the first. If that is a name without a
 * path, by which a shell found the program, the program's path takes its place. */
static char **recorded_command(const struct rp_data_place *place, char **name)
{
    size_t count = 0;

    while (place->arguments[count])
        count++;
    char **command = count > 0 ? malloc((count + 1) * sizeof *command) : NULL;
    if (!command)
        return NULL;
    memcpy(command, place->arguments, (count + 1) * sizeof *command);
    *name = command[0];
    if (!strchr(command[0], '/'))
        command[0] = place->program;
    return command;
}

/* Changes to the directory where the rank ran, or to s->where. */
static enum rp_status enter(const struct rp_solo *s, const struct rp_data_place *place,
                            struct rp_problem *why)
{
    const char *directory = s->where ? s->where : place->directory;

    if (chdir(directory) != 0)
        return rp_fail(why, RP_USAGE, "%s: %s%s", directory, strerror(errno),
                       s->where ? "" : "; the rank ran there: --directory says where else");
    return RP_OK;
}

/* Returns a command that runs `command` in gdb up to s->until or s->break_at; NULL without memory.
 */
static char **in_gdb(const struct rp_solo *s, char **command)
{
    size_t count = 0, at = 0;
    char *script = rp_launch_gdb_script(), *stop = NULL, *place = NULL;

    while (command[count])
        count++;
    char **words = calloc(count + 16, sizeof *words);
    if (!words || !script ||
        (s->until &&
         asprintf(&stop, "tbreak reprise_event if ((unsigned long *) &reprise_place)[2] >= %s",
                  s->until) < 0) ||
        (s->break_at && asprintf(&place, "break %s", s->break_at) < 0))
        return NULL;
    bool has_gdb = strcmp(command[0], "gdb") == 0;
    words[at++] = "gdb";
    words[at++] = "-q";
    words[at++] = "-x";
    words[at++] = script;
    words[at++] = "-ex";
    words[at++] = "set breakpoint pending on";
    words[at++] = "-ex";
    words[at++] = s->until ? stop : place;
    words[at++] = "-ex";
    words[at++] = "run";
    if (s->until) {
        words[at++] = "-ex";
        words[at++] = "reprise returned";
    }
    if (!has_gdb)
        words[at++] = "--args";
    memcpy(words + at, command + has_gdb, (count + 1 - has_gdb) * sizeof *words);
    return words;
}

/* Returns whether an exit status is one of reprise's own. */
static bool is_own(int status)
{
    return status >= REPRISE_EXIT_USAGE && status <= REPRISE_EXIT_INTERNAL;
}

/* Returns whether several threads of the rank called MPI. Then polls that are answered no have no
 * order, and how many there are may depend on other threads: they are not compared. */
static bool has_threads(const struct rp_solo *s, uint32_t rank)
{
    char *path = rp_data_kind_path(&rp_data_of_turns, s->directory, rank);
    bool is_there = path && access(path, F_OK) == 0;

    free(path);
    return is_there;
}

static size_t drop_polls(struct rp_event *events, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (events[i].kind != RP_NO)
            events[kept++] = events[i];
    return kept;
}

/* Sets *sum to the sum of the first `most` events of the log, or of all if it has fewer. */
static enum rp_status add_up(struct rp_log *log, bool polls, uint64_t most, struct rp_log_sum *sum,
                             struct rp_problem *why)
{
    struct rp_event *events = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *events);
    size_t count = 1;
    enum rp_status status = events ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    *sum = (struct rp_log_sum){.digest = RP_DIGEST_START};
    while (status == RP_OK && count > 0 && sum->events < most) {
        status = rp_log_next_block(log, events, &count, why);
        size_t compared = status == RP_OK && !polls ? drop_polls(events, count) : count;
        if (status == RP_OK)
            rp_log_sum_add(sum, events,
                           compared < most - sum->events ? compared : (size_t)(most - sum->events));
    }
    free(events);
    return status;
}

/* Like add_up, for the log of `rank` in `directory`. Sets *reason to how the log ends. */
static enum rp_status sum_of(const char *directory, const struct rp_solo *s, uint32_t rank,
                             uint64_t most, struct rp_log_sum *sum, enum rp_end_reason *reason,
                             struct rp_problem *why)
{
    struct rp_log *log;
    enum rp_status status =
        rp_log_open(directory, s->manifest->run, rank, s->manifest->ranks, &log, why);

    if (status != RP_OK)
        return status;
    *reason = rp_log_end(log).reason;
    status = add_up(log, !has_threads(s, rank), most, sum, why);
    rp_log_free(log);
    return status;
}

/* The results of several ranks, in memory that all their processes share. */
struct results {
    uint64_t events;
    uint32_t same, stopped;
};
static struct results *results; /* NULL: each rank prints its own */

/* Compares the events of the replay in `output` with the recorded ones, and prints the result, or
 * adds it to `results`. `entries`: of the data log, that were fed; `status`: the exit status of the
 * rank. Sets *same to whether the rank did what was recorded, to the end. Returns the exit status
 * of the command. */
static int verdict(const struct rp_solo *s, uint32_t rank, const char *output, uint64_t entries,
                   int status, bool *same)
{
    struct rp_log_sum recorded, made;
    struct rp_problem why;
    char *path = rp_log_path(output, rank);
    bool is_there = path && access(path, R_OK) == 0;

    free(path);
    if (is_own(status))
        return status; /* said where it was found */
    if (!is_there) {
        rp_error("rank %s: nothing was replayed: no process called MPI_Init under reprise",
                 name_of(s, rank));
        return status ? status : REPRISE_EXIT_UNSUPPORTED;
    }
    enum rp_end_reason then = RP_END_KILLED, now = RP_END_KILLED, ignored;
    enum rp_status found = sum_of(s->directory, s, rank, UINT64_MAX, &recorded, &then, &why);
    bool killed = then == RP_END_KILLED;
    if (found == RP_OK) /* a rank that was killed may not have recorded its last call */
        found = sum_of(output, s, rank, killed ? recorded.events : UINT64_MAX, &made, &now, &why);
    bool stopped = now == RP_END_KILLED;
    uint64_t all = recorded.events;
    if (found == RP_OK && stopped && made.events < all) /* a debugger was left */
        found = sum_of(s->directory, s, rank, made.events, &recorded, &ignored, &why);
    if (found != RP_OK) {
        rp_error("%s", why.text);
        return rp_exit_status(found);
    }
    if (then == RP_END_FINALIZE && now == RP_END_EXIT) {
        rp_error(
            "rank %s alone: it went on where the recorded rank called MPI_Finalize: NOT identical",
            name_of(s, rank));
        return REPRISE_EXIT_DIVERGED;
    }
    if (recorded.events != made.events || recorded.digest != made.digest) {
        rp_error("rank %s alone: %llu events, %llu were recorded: NOT identical", name_of(s, rank),
                 (unsigned long long)made.events, (unsigned long long)recorded.events);
        return REPRISE_EXIT_DIVERGED;
    }
    if (made.events < all || (stopped && !killed)) {
        rp_note("rank %s replayed alone: %llu of %llu events: identical so far, but it was stopped "
                "there",
                name_of(s, rank), (unsigned long long)made.events, (unsigned long long)all);
        return status;
    }
    *same = true;
    if (results) {
        __atomic_fetch_add(&results->events, made.events, __ATOMIC_RELAXED);
        __atomic_fetch_add(&results->same, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&results->stopped, killed, __ATOMIC_RELAXED);
        return status;
    }
    struct rp_refusal refusal;
    if (killed && rp_refusal_read(s->directory, &refusal)) {
        rp_error("rank %s replayed alone: %llu events, to the end of its record; the recording was "
                 "refused at %s on rank %s, and nothing is recorded behind that call",
                 name_of(s, rank), (unsigned long long)made.events, refusal.function, refusal.rank);
        return status ? status : REPRISE_EXIT_UNSUPPORTED;
    }
    if (made.events == 0 && entries > 0)
        rp_note("rank %s replayed alone: no events (MPI left nothing open to this rank), %llu "
                "entries of data: identical",
                name_of(s, rank), (unsigned long long)entries);
    else
        rp_note("rank %s replayed alone: %llu events, digest %016llx: identical", name_of(s, rank),
                (unsigned long long)made.events, (unsigned long long)made.digest);
    return status;
}

/* Replays one rank. Returns the exit status. */
static int run_rank(const struct rp_solo *s, uint32_t rank, struct rp_data_reader *reader)
{
    const struct rp_data_place *place = rp_data_place(reader);
    char output[] = "/tmp/reprise-solo.XXXXXX";
    struct rp_problem why;
    char *name = NULL, **recorded = s->command ? NULL : recorded_command(place, &name),
         **command = recorded ? recorded : s->command;
    char *accesses = s->who ? unproved_accesses(s, rank) : NULL;
    enum rp_status status =
        command
            ? RP_OK
            : rp_fail(&why, RP_DAMAGED, "the record does not know the command of rank %s: give it",
                      name_of(s, rank));

    if (status == RP_OK && (s->until || s->break_at) && !(command = in_gdb(s, command)))
        status =
            rp_fail(&why, RP_USAGE,
                    "the commands for gdb are not beside the library: is reprise.gdb installed?");
    if (status == RP_OK && !mkdtemp(output))
        status = rp_fail(&why, RP_SYSTEM, "%s: %s", output, strerror(errno));
    if (status == RP_OK)
        status = enter(s, place, &why);
    if (status == RP_OK) {
        take_environment(place->environment);
        set_rank(s, rank, output, accesses);
        set_name(place);
        set_build(s, place);
        status = rp_launch_preload(s->mpi, s->manifest->mpi, command, &why);
    }
    if (status != RP_OK) {
        rp_error("cannot replay rank %s: %s", name_of(s, rank), why.text);
        rmdir(output);
        free(accesses);
        free(recorded);
        return rp_exit_status(status);
    }
    bool same = false;
    rp_launch_call_it(s->until || s->break_at ? NULL : name); /* gdb has a name of its own */
    int exit_status = verdict(s, rank, output, rp_data_all_entries(reader),
                              rp_launch_run(command, NULL, NULL), &same);
    if (accesses && same && keep_accesses(s, rank, accesses, &why) != RP_OK) {
        rp_error("%s", why.text);
        exit_status = REPRISE_EXIT_INTERNAL;
    }
    if (accesses)
        unlink(accesses); /* if they are still there */
    free(accesses);
    free(recorded);
    rp_remove_directory(output); /* MPI's files as well, if the rank died */
    return exit_status;
}

/* Like run_rank, but only rank 0 reads the standard input, as under a launcher. */
static int run_child(const struct rp_solo *s, uint32_t rank, struct rp_data_reader *reader)
{
    int nothing = rank > 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

    if (nothing >= 0)
        dup2(nothing, 0);
    return run_rank(s, rank, reader);
}

/* Replays each rank that has a reader in a process of its own, all at once. No rank waits for
 * another: the paper's wait and wake clocks (OPR 0.1) are not needed. Returns the largest exit
 * status. */
static int run_several(const struct rp_solo *s, struct rp_data_reader **readers)
{
    int worst = 0;

    fflush(NULL);
    for (uint32_t i = 0; i < s->manifest->ranks; i++) {
        pid_t child = readers[i] ? fork() : -1;
        if (child == 0)
            _exit(run_child(s, i, readers[i]));
        if (readers[i] && child < 0) {
            rp_error("cannot start a process for rank %s: %s", name_of(s, i), strerror(errno));
            worst = REPRISE_EXIT_INTERNAL;
        }
    }
    for (int status; wait(&status) > 0;) {
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* Fails if the rank has fewer events than --until asks for: gdb would wait for them in vain. */
static enum rp_status check_until(const struct rp_solo *s, uint32_t rank, struct rp_problem *why)
{
    unsigned long long wanted = strtoull(s->until, NULL, 10), events;
    struct rp_log *log;
    enum rp_status status =
        rp_log_open(s->directory, s->manifest->run, rank, s->manifest->ranks, &log, why);

    if (status != RP_OK)
        return status;
    events = rp_log_event_count(log);
    rp_log_free(log);
    if (events == 0)
        return rp_fail(why, RP_USAGE,
                       "--until %s: rank %s made no events, since nothing was left open to it; "
                       "--break stops at a place of the program",
                       s->until, name_of(s, rank));
    if (wanted > events)
        return rp_fail(
            why, RP_USAGE,
            "--until %s: rank %s made only %llu events ('reprise dump -r %s' lists them)", s->until,
            name_of(s, rank), events, name_of(s, rank));
    return RP_OK;
}

/* Opens the data logs of all ranks that are wanted, before any rank is started. Sets readers[rank]
 * for each, and *count to how many there are. Fails if one cannot be opened, or there are none. */
static enum rp_status open_all(const struct rp_solo *s, struct rp_data_reader **readers,
                               uint32_t *count, struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    *count = 0;
    for (uint32_t i = 0; i < s->manifest->ranks && status == RP_OK; i++)
        if (rp_ranks_have(s->ranks, i)) {
            status = rp_data_open(s->directory, s->manifest->run, i, s->manifest->ranks,
                                  &readers[i], why);
            if (status == RP_OK && s->until)
                status = check_until(s, i, why);
            ++*count;
        }
    if (status == RP_OK && *count == 0)
        status = rp_fail(why, RP_USAGE, "--rank %s: %s has ranks 0 to %u", s->ranks, s->directory,
                         s->manifest->ranks - 1);
    return status;
}

int rp_solo_run(const struct rp_solo *s)
{
    struct rp_data_reader **readers = calloc(s->manifest->ranks + 1, sizeof *readers);
    struct rp_problem why;
    uint32_t count, only = 0;
    int exit_status;

    if (!readers)
        return REPRISE_EXIT_INTERNAL;
    enum rp_status status = open_all(s, readers, &count, &why);
    while (status == RP_OK && !readers[only])
        only++;
    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        exit_status = rp_exit_status(status);
    } else {
        exit_status = count == 1 ? run_rank(s, only, readers[only]) : run_several(s, readers);
    }
    for (uint32_t i = 0; i < s->manifest->ranks; i++)
        if (readers[i])
            rp_data_free(readers[i]);
    free(readers);
    return exit_status;
}

int rp_solo_run_all(const struct rp_solo *s)
{
    void *shared =
        mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED) {
        rp_error("cannot replay: %s", strerror(errno));
        return REPRISE_EXIT_INTERNAL;
    }
    results = shared;
    int exit_status = rp_solo_run(s);
    struct rp_refusal refusal;
    bool refused = results->stopped && rp_refusal_read(s->directory, &refusal);
    if (refused)
        rp_error("the recording was refused at %s on rank %s: the %llu recorded events were "
                 "replayed on %u of %u ranks, and none is recorded behind that call",
                 refusal.function, refusal.rank, (unsigned long long)results->events, results->same,
                 s->manifest->ranks);
    else if (results->same == s->manifest->ranks)
        rp_note("replayed %llu events on %u ranks, each alone: identical%s",
                (unsigned long long)results->events, results->same,
                results->stopped ? " up to the end of the record" : "");
    if (!refused && results->same == s->manifest->ranks && results->events == 0)
        rp_note("there are no events: MPI left no match and no answer open in this run; every "
                "other result of MPI was fed from the record");
    if (refused && exit_status == 0)
        exit_status = REPRISE_EXIT_UNSUPPORTED;
    return exit_status;
}

enum rp_status rp_solo_look(const char *directory, const struct rp_manifest *manifest,
                            bool *windows, uint32_t *with_data, struct rp_problem *why)
{
    enum rp_status worst = RP_OK;

    *windows = false;
    *with_data = 0;
    for (uint32_t i = 0; i < manifest->ranks; i++) {
        char *path = rp_data_path(directory, i);
        bool is_there = path && access(path, F_OK) == 0;
        struct rp_data_reader *reader;
        free(path);
        if (!is_there)
            continue;
        ++*with_data;
        enum rp_status status =
            rp_data_open(directory, manifest->run, i, manifest->ranks, &reader, why);
        if (status == RP_OK) {
            *windows |= rp_data_has_windows(reader);
            rp_data_free(reader);
        } else {
            worst = status;
        }
    }
    return *windows ? worst : RP_OK;
}
