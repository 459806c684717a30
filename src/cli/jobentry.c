/* SPDX-License-Identifier: MIT */
/*
 * A process that is entered writes itself into the roll of the job when it is loaded
 * (job/job_progress.h). The others between it and the launcher, such as shells, may run as long as
 * they like. Evidence that one is MPI's and will never be entered, in the order in which it comes:
 * - a process has MPI's library in its memory, and not ours;
 * - its program has an MPI linked into it, without a library;
 * - memory of MPI is in the directory of the run, where MPI_Init makes it, though nobody that is
 *   entered is in MPI_Init;
 * - a child of the launcher ended without us, or all did without MPI_Init.
 *
 * Reading all this takes time: it is done until all processes are on the roll, often at first.
 */
#include "cli/jobentry.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "cli/binary.h"
#include "cli/launch.h"

static const char library[] = "libreprise-ft.so";

/* Before the start */

static bool may_be_value(char **words, int i)
{
    return words[i - 1][0] == '-' && !strchr(words[i], '/');
}

static bool runs_others(const struct rp_binary *binary)
{
    return binary->kind == RP_BINARY_SCRIPT || rp_launch_is_interpreter(binary->path);
}

/* What it runs is one of the words behind it, which may only be found elsewhere (--wdir). */
static bool is_wrapper(const struct rp_binary *binary)
{
    static const char *const names[] = {"env",     "nice",    "ionice",  "chrt",
                                        "nohup",   "time",    "timeout", "taskset",
                                        "numactl", "setarch", "stdbuf",  "strace",
                                        "ltrace",  "gdb",     "perf",    "valgrind"};
    const char *slash = strrchr(binary->path, '/'), *name = slash ? slash + 1 : binary->path;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Returns why the program that a word of the command names cannot be entered; NULL: no reason. */
static const char *obstacle(const struct rp_binary *binary)
{
    if (binary->setuid)
        return "is setuid or setgid: the loader keeps reprise out of it";
    if (binary->kind == RP_BINARY_STATIC)
        return "is statically linked: there is no way into it; link it dynamically";
    if (binary->kind == RP_BINARY_DYNAMIC && !binary->mpi && !is_wrapper(binary))
        return "is not linked with MPI: spares would be more ranks of it";
    return NULL;
}

static enum rp_status check_mpi(const struct rp_binary *binary, struct rp_problem *why)
{
    if (strcmp(binary->mpi, "openmpi") == 0)
        return RP_OK;
    return rp_fail(why, RP_UNSUPPORTED,
                   "%s is linked with %s: 'reprise ft' needs a program that "
                   "is linked with Open MPI",
                   binary->path, binary->mpi);
}

/* Takes what the word says into the status; true: the words behind it do not matter. */
static bool judge(char **words, int i, enum rp_status *status, struct rp_problem *why)
{
    struct rp_binary binary;
    struct rp_problem ignored;

    if (words[i][0] == '-' || rp_binary_look(words[i], &binary, &ignored) != RP_OK)
        return false;
    bool is_program = binary.executable && binary.kind != RP_BINARY_NONE;
    bool is_script = is_program && runs_others(&binary);
    const char *because = is_program && !is_script ? obstacle(&binary) : NULL;
    if (is_script)
        *status = RP_OK;
    else if (because && (binary.setuid || (*status == RP_OK && !may_be_value(words, i))))
        *status = rp_fail(why, RP_UNSUPPORTED, "%s %s", binary.path, because);
    else if (is_program && binary.mpi)
        *status = check_mpi(&binary, why);
    bool decides = is_script || (is_program && (binary.setuid || binary.mpi));
    rp_binary_free(&binary);
    return decides;
}

/* The first program that is linked with MPI decides, or the first script or setuid program; only
 * where there is none of these does the first other program. */
enum rp_status rp_job_check_program(char **words, struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    for (int i = 1; words[i]; i++)
        if (judge(words, i, &status, why))
            break;
    return status;
}

/* While it runs */

struct child { /* of the launcher: a process of the job, or what runs it */
    pid_t process;
    int rank;                /* as the launcher counts; -1: not known */
    bool is_there;           /* at the last look */
    bool is_outside;         /* our library is not in it, and will not be */
    bool had_no_environment; /* at the last look: it has none, or exec was just giving it one */
    char program[256];
};

struct rp_entries {
    struct rp_job *job;
    const char *directory;
    struct child *children;
    size_t count;
    double began, next;
    double fewer;          /* since when some have ended, or were not started yet; 0: not so */
    struct rp_buffer text; /* of files */
    char launcher[PATH_MAX];
    dev_t device; /* of the last program that was looked into */
    ino_t inode;
    bool holds_mpi;
};

struct rp_entries *rp_entries_new(struct rp_job *job, const char *directory)
{
    struct rp_entries *entries = calloc(1, sizeof *entries);

    if (entries) {
        entries->job = job;
        entries->directory = directory;
    }
    return entries;
}

void rp_entries_free(struct rp_entries *entries)
{
    if (!entries)
        return;
    rp_buffer_free(&entries->text);
    free(entries->children);
    free(entries);
}

static bool contains(const struct rp_buffer *text, const char *word)
{
    return text->length && memmem(text->bytes, text->length, word, strlen(word));
}

static bool read_proc(struct rp_entries *e, long process, const char *name)
{
    struct rp_problem why;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
    rp_buffer_free(&e->text);
    return rp_read_file(path, SIZE_MAX / 2, &e->text, &why) == RP_OK && e->text.length > 0;
}

static void program_of(long process, char path[PATH_MAX])
{
    char link[64];

    snprintf(link, sizeof link, "/proc/%ld/exe", process);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

/* An MPI without a library has the names of its functions and of the launcher's variables in it. */
static bool holds_mpi(struct rp_entries *e, long process)
{
    struct stat about;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/exe", process);
    if (stat(path, &about) != 0)
        return false;
    if (about.st_dev != e->device || about.st_ino != e->inode) {
        e->holds_mpi = read_proc(e, process, "exe") && contains(&e->text, "MPI_Init") &&
                       (contains(&e->text, "PMIX_NAMESPACE") || contains(&e->text, "PMI_FD"));
        e->device = about.st_dev;
        e->inode = about.st_ino;
    }
    return e->holds_mpi;
}

static bool is_on_roll(const struct rp_job *job, long process)
{
    for (int i = 0; i < job->processes && job->roll; i++)
        if (job->roll[i].process == process)
            return true;
    return false;
}

/* Returns the rank that the launcher set in the process's environment; -1: it set none. */
static int rank_of(const struct rp_buffer *environment)
{
    static const char name[] = "\0PMIX_RANK=";
    const char *at = memmem(environment->bytes, environment->length, name, sizeof name - 1);

    return at ? (int)strtol(at + sizeof name - 1, NULL, 10) : -1;
}

static struct child *child_of(struct rp_entries *e, long process)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->children[i].process == process)
            return &e->children[i];
    struct child *more = realloc(e->children, (e->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    e->children = more;
    more[e->count] = (struct child){.process = (pid_t)process, .rank = -1};
    return &more[e->count++];
}

static bool is_setuid(long process)
{
    struct stat about;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/exe", process);
    return stat(path, &about) == 0 && about.st_mode & (S_ISUID | S_ISGID);
}

static void name_process(const struct rp_job *job, int rank, long process, const char *program,
                         char text[384])
{
    char who[64] = "a process";

    if (rank >= 0 && rank < job->ranks)
        snprintf(who, sizeof who, "rank %d", rank);
    else if (rank >= 0)
        snprintf(who, sizeof who, "spare %d", rank - job->ranks);
    snprintf(text, 384, "%s (process %ld, %.250s)", who, process, program);
}

/* One process below the launcher that is not on the roll. True: it is MPI's, and not entered. */
static bool is_outsider(struct rp_entries *e, long process, struct child *child, char text[512])
{
    char program[PATH_MAX], now[PATH_MAX], who[384];

    program_of(process, program);
    if (!*program || strcmp(program, e->launcher) == 0 || !read_proc(e, process, "maps"))
        return false;
    bool has_us = contains(&e->text, library);
    bool has_mpi = contains(&e->text, "/libmpi.so.") || contains(&e->text, "/libmpich.so.");
    bool has_environment = rp_process_environment(process, &e->text);
    bool is_told = has_environment && contains(&e->text, library);
    program_of(process, now);
    if (strcmp(now, program) != 0)
        return false; /* it called exec meanwhile: the next look sees one program */
    if (child && rank_of(&e->text) >= 0)
        child->rank = rank_of(&e->text);
    if (child) {
        snprintf(child->program, sizeof child->program, "%.250s", program);
        child->is_outside = !has_us && (has_environment || child->had_no_environment) &&
                            (!is_told || rp_binary_is_static(program));
        child->had_no_environment = !has_environment;
    }
    name_process(e->job, child ? child->rank : rank_of(&e->text), process, program, who);
    if (has_mpi && !has_us)
        snprintf(text, 512, "%s uses MPI without reprise: %s", who,
                 !is_told             ? "LD_PRELOAD was cleared or changed before it started"
                 : is_setuid(process) ? "it is setuid"
                                      : "the loader did not load reprise's library");
    else if (!has_mpi && holds_mpi(e, process))
        snprintf(text, 512,
                 "%s has MPI linked into it: there is no way into it; link it with "
                 "MPI's shared library",
                 who);
    else
        return false;
    return true;
}

struct look {
    struct rp_entries *entries;
    pid_t launcher;
    struct {
        pid_t process, parent;
    } * all;
    size_t count, room;
};

static bool note_process(void *data, long process)
{
    struct look *look = data;

    if (look->count == look->room) {
        look->room = look->room * 2 + 256;
        void *more = realloc(look->all, look->room * sizeof *look->all);
        if (!more)
            return false;
        look->all = more;
    }
    look->all[look->count].process = (pid_t)process;
    look->all[look->count++].parent = rp_process_parent(process);
    return true;
}

/* All below this process, down to those that are on the roll. */
static bool search(struct look *look, pid_t parent, char text[512])
{
    struct rp_entries *e = look->entries;

    for (size_t i = 0; i < look->count; i++) {
        pid_t process = look->all[i].process;
        if (look->all[i].parent != parent || is_on_roll(e->job, process))
            continue;
        struct child *child = parent == look->launcher ? child_of(e, process) : NULL;
        if (child)
            child->is_there = true;
        if (is_outsider(e, process, child, text) || search(look, process, text))
            return true;
    }
    return false;
}

static bool anybody_came(const struct rp_job *job, int32_t state)
{
    for (int i = 0; i < job->processes; i++)
        if (job->roll[i].state >= state)
            return true;
    return false;
}

static bool is_accounted_for(const struct rp_job *job, const struct child *child)
{
    if (is_on_roll(job, child->process))
        return true;
    return child->rank >= 0 && child->rank < job->processes &&
           job->roll[child->rank].state != RP_PROCESS_UNSEEN;
}

/* A child of the launcher ended without us. */
static bool has_ended_outside(struct rp_entries *e, char text[512])
{
    char who[384];

    for (size_t i = 0; i < e->count; i++) {
        struct child *child = &e->children[i];
        if (child->is_there || !child->is_outside || is_accounted_for(e->job, child))
            continue;
        name_process(e->job, child->rank, child->process, child->program, who);
        snprintf(text, 512, "%s ended and did not call MPI_Init under reprise, which was not in it",
                 who);
        return true;
    }
    return false;
}

/* Some ended, and none is on the roll. Those that come to nothing by themselves all end soon. */
static bool has_ended_early(struct rp_entries *e, double now, char text[512])
{
    static const double patience = 2;
    int there = 0;

    for (size_t i = 0; i < e->count; i++)
        there += e->children[i].is_there;
    if (e->count == 0 || there >= e->job->processes || anybody_came(e->job, RP_PROCESS_BEGAN)) {
        e->fewer = 0;
        return false;
    }
    e->fewer = e->fewer ? e->fewer : now;
    snprintf(text, 512,
             "a process ended, and none has called MPI_Init under reprise: are they MPI "
             "programs, and dynamically linked?");
    return now - e->fewer > patience;
}

static bool has_memory_of_mpi(const struct rp_entries *e, char text[512])
{
    char pattern[PATH_MAX + 32];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/*sm_segment*", e->directory);
    bool any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    if (any)
        globfree(&found);
    snprintf(text, 512,
             "a process called MPI_Init without reprise: it took the function from "
             "MPI's library itself (dlsym)");
    return any && !anybody_came(e->job, RP_PROCESS_ENTERS);
}

static int kill_below(const struct look *look, pid_t parent)
{
    int count = 0;

    for (size_t i = 0; i < look->count; i++)
        if (look->all[i].parent == parent) {
            kill(look->all[i].process, SIGKILL); /* before it can report how those below it ended */
            count += 1 + kill_below(look, look->all[i].process);
        }
    return count;
}

int rp_job_kill_children(pid_t launcher)
{
    struct look look = {.launcher = launcher};
    int count = rp_processes_each(note_process, &look) ? kill_below(&look, launcher) : 0;

    free(look.all);
    return count;
}

/* On several hosts there is none: those on this host are looked at for a while. */
static bool all_are_on_roll(const struct rp_job *job, double since)
{
    static const double patience = 60;

    if (!job->roll)
        return since > patience;
    for (int i = 0; i < job->processes; i++)
        if (job->roll[i].state == RP_PROCESS_UNSEEN)
            return false;
    return true;
}

bool rp_entries_find_outsider(struct rp_entries *e, pid_t launcher, char text[512])
{
    static const double early = 5, soon = 0.01, later = 0.2, share = 5;
    double now = rp_job_now();
    clock_t used = clock();
    struct look look = {.entries = e, .launcher = launcher};

    e->began = e->began ? e->began : now;
    if (now < e->next || all_are_on_roll(e->job, now - e->began))
        return false;
    program_of(launcher, e->launcher);
    for (size_t i = 0; i < e->count; i++)
        e->children[i].is_there = false;
    bool found = rp_processes_each(note_process, &look) && search(&look, launcher, text);
    if (!found && e->job->roll)
        found = has_ended_outside(e, text) || has_ended_early(e, now, text) ||
                has_memory_of_mpi(e, text);
    if (found)
        kill_below(&look, launcher); /* they would go on computing */
    free(look.all);
    double took = (double)(clock() - used) / CLOCKS_PER_SEC;
    double pause = now - e->began < early ? soon : later;
    e->next = now + (pause > share * took ? pause : share * took);
    return found;
}

static bool has_mark(const struct rp_entries *e, const char *name)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/%s", e->directory, name);
    return access(path, F_OK) == 0;
}

/* A launcher that could not start anything has said so. */
bool rp_entries_ran_outside(const struct rp_entries *e, int status, char text[512])
{
    bool nobody = e->job->roll && !anybody_came(e->job, RP_PROCESS_BEGAN);

    if (!e->job->roll || anybody_came(e->job, RP_PROCESS_ENTERS))
        return false;
    snprintf(text, 512,
             "no process called MPI_Init under reprise: is the program an MPI program, "
             "and does its environment reach it? 'reprise doctor PROGRAM' checks whether it can be "
             "entered");
    return status == 0 || (nobody && (e->count > 0 || has_mark(e, "started")));
}
