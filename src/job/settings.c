/* SPDX-License-Identifier: MIT */
#include "job/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct rp_setting rp_settings[] = {
    {"REPRISE_DIR",
     "where records are kept and looked for (default: .reprise in the working directory)"},
    {"REPRISE_OUTPUT", "the directory of the new record (-o)"},
    {"REPRISE_RUN", "the record to replay or to look at (instead of the latest)"},
    {"REPRISE_MPI", "openmpi, mpich or abi, where it cannot be seen from the program (--mpi)"},
    {"REPRISE_ALLOW", "refused MPI functions to let through, separated by commas (--allow)"},
    {"REPRISE_CAPTURE", "values from outside to record: time, random, pid, host or all, separated "
                        "by commas (--capture)"},
    {"REPRISE_THREADS", "1: what threads that never call MPI do with locks, and how they share "
                        "work, is recorded, too (--threads)"},
    {"REPRISE_CODEC", "mix, tables, cdc, gzip or raw: how the record is stored (--codec)"},
    {"REPRISE_ENCODER", "on: by a thread of its own, off: by the program's own thread, when the "
                        "ring is full (--encoder)"},
    {"REPRISE_TIMESTAMPS", "1: every event is recorded with its time (--timestamps)"},
    {"REPRISE_CLOCKS", "1: messages carry Lamport clocks, which are recorded (--clocks)"},
    {"REPRISE_RANKS", "ranks whose data is recorded too, so that they can be replayed alone, such "
                      "as 3,7-9, all, or none (--ranks)"},
    {"REPRISE_NO_ENVIRONMENT", "1: the record leaves out environment variables (--no-environment)"},
    {"REPRISE_WRAPPERS", "functions that only wrap MPI, besides those that reprise knows, such as "
                         "comm_*,log_recv: places are named by their callers (--wrappers)"},
    {"REPRISE_AT_END",
     "stop, gdb or continue: what a replay does at the end of the record (--at-end)"},
    {"REPRISE_GDB", "ranks of a replay for which gdb is opened, such as 0,4-7 (--gdb)"},
    {"REPRISE_STALL",
     "seconds after which a waiting replay says who waits for what; 0: never (--stall)"},
    {"REPRISE_FORCE", "1: replay with another build of the program (--force)"},
    {"REPRISE_LATENCY", "deterministic runs: logical time after which a message can be seen; a "
                        "call takes 1000 (--latency)"},
    {"REPRISE_COSTS",
     "deterministic runs: a file that says what system calls take of logical time (--costs)"},
    {"REPRISE_THRESHOLD",
     "deterministic runs: bytes above which a send waits for its receiver (--threshold)"},
    {"REPRISE_BUFFER", "deterministic runs: bytes for copies of messages that are not received "
                       "yet, for each rank (--buffer)"},
    {"REPRISE_CHILDREN", "deterministic runs: room for so many spawned processes, 64 by default "
                         "(--children)"},
    {"REPRISE_REDUCTIONS", "deterministic runs: fixed: reductions in the order of ranks, whatever "
                           "the MPI does (--reductions)"},
    {"REPRISE_CHECK", "deterministic runs: 1: a digest of all decisions at the end (--check)"},
    {"REPRISE_TASKS",
     "programs of tasks: plain, record, replay, partial, full or restart (docs/tasks.md)"},
    {"REPRISE_TASKS_SPREAD",
     "programs of tasks: over how many processes the tasks of a dead one are spread (16)"},
    {"REPRISE_TASKS_COPIES", "programs of tasks: how many other processes hold a determinant "
                             "before it is no longer sent on (1)"},
    {"REPRISE_TASKS_PATIENCE", "'reprise ft --tasks': the seconds after which a job ends in which "
                               "all processes wait and nothing moves (30)"},
    {"REPRISE_SHUFFLE",
     "a seed by which a replay takes commutative messages in another order (replay --shuffle)"},
    {"REPRISE_ULFM", "the prefix of an Open MPI with ULFM, for 'reprise ft' (default: the mpirun "
                     "on the PATH, or what tools/ulfm built)"},
    {"REPRISE_LIBRARY", "directory with <mpi>/libreprise.so (default: beside the command)"},
    {"REPRISE_FT_DIR", NULL},
    {"REPRISE_FT_RANKS", NULL},
    {"REPRISE_FT_INTERVAL", NULL},
    {"REPRISE_FT_CAPACITY", NULL},
    {"REPRISE_FT_CAPACITY_ITERATIONS", NULL},
    {"REPRISE_FT_INIT_PATIENCE", "'reprise ft': the seconds that MPI_Init may take before the job "
                                 "ends (300): a process may have died in it"},
    {"REPRISE_FT_RESPAWN", NULL},
    {"REPRISE_FT_COMPRESS", NULL},
    {"REPRISE_FT_KILL", NULL},
    {"REPRISE_FT_FILES", NULL},
    {"REPRISE_FT_KEEP", NULL},
    {"REPRISE_FT_COPIES", NULL},
    {"REPRISE_FT_RESTART", NULL},
    {"REPRISE_FT_MTBF", NULL},
    {"REPRISE_FT_CHECK", NULL},
    {"REPRISE_TASKS_KILL", NULL},
    {"REPRISE_TASKS_TIMES", NULL},
    {"REPRISE_TASKS_VERDICT", NULL},
    {"REPRISE_TASKS_TRACE", NULL},
    {"REPRISE_TASKS_FOLLOW", NULL},
    {"REPRISE_TASKS_FREE", NULL},
    {"REPRISE_GIVEN", NULL},
    {"REPRISE_SHUFFLE_PART", NULL},
    {"REPRISE_DELAY", NULL},
    {"REPRISE_HOSTS", NULL},
    {"REPRISE_DET", NULL},
    {"REPRISE_DECISIONS", NULL},
    {"REPRISE_DET_JOIN", NULL},
    {"REPRISE_MODE", NULL},
    {"REPRISE_JOB", NULL},
    {"REPRISE_MARK", NULL},
    {"REPRISE_COMMAND", NULL},
    {"REPRISE_GDB_SCRIPT", NULL},
    {"REPRISE_LAUNCHED", NULL},
    {"REPRISE_PARENT", NULL},
    {"REPRISE_SOLO", NULL},
    {"REPRISE_CALLED", NULL},
    {"REPRISE_WHO", NULL},
    {"REPRISE_STATE", NULL},
    {"REPRISE_STRESS", NULL},
    {"REPRISE_DIRECTORY", NULL},
    {"REPRISE_VARIABLES", NULL},
    {NULL, NULL},
};

static bool is_known(const char *name, size_t length)
{
    for (const struct rp_setting *s = rp_settings; s->name; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
            return true;
    return false;
}

enum rp_status rp_settings_check(struct rp_problem *why)
{
    for (char **variable = environ; variable && *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, "REPRISE_", 8) == 0 && !is_known(*variable, length))
            return rp_fail(
                why, RP_USAGE,
                "unknown setting %.*s in the environment: 'reprise env --list' lists them",
                (int)length, *variable);
    }
    return rp_settings_check_wrappers(why);
}

enum rp_status rp_settings_check_wrappers(struct rp_problem *why)
{
    enum { MOST = 2048 };
    const char *list = rp_setting("REPRISE_WRAPPERS");

    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (strspn(at, "*?") >= length)
            return rp_fail(
                why, RP_USAGE,
                "--wrappers %s: names of functions are expected, such as comm_*,log_recv", list);
    }
    if (list && strlen(list) > MOST)
        return rp_fail(why, RP_USAGE,
                       "--wrappers: %zu characters are more than the %d that there is room for",
                       strlen(list), (int)MOST);
    return RP_OK;
}

enum rp_status rp_settings_check_capture(struct rp_problem *why)
{
    const char *list = rp_setting("REPRISE_CAPTURE");

    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        char word[16] = "";
        size_t length = strcspn(at, ",");
        if (length < sizeof word)
            memcpy(word, at, length);
        if (!rp_list_has("time,random,pid,host,all", word))
            return rp_fail(why, RP_USAGE,
                           "--capture %.*s: time, random, pid, host or all is expected",
                           (int)length, at);
        at += length;
    }
    return RP_OK;
}

/* A program may clear its environment before it initialises MPI (clearenv). So settings are read
 * from the environment that the process was started with. */
static char **kept;

__attribute__((constructor)) static void keep(void)
{
    size_t count = 0;

    for (char **at = environ; at && *at; at++)
        count += strncmp(*at, "REPRISE_", 8) == 0;
    kept = count ? calloc(count + 1, sizeof *kept) : NULL;
    for (char **at = environ, **to = kept; to && *at; at++)
        if (strncmp(*at, "REPRISE_", 8) == 0)
            *to++ = strdup(*at);
}

static const char *kept_value(const char *name)
{
    size_t length = strlen(name);

    for (char **at = kept; at && *at; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}

const char *rp_setting(const char *name)
{
    const char *set = getenv(name), *value = set ? set : kept_value(name);

    return value && *value ? value : NULL;
}

enum rp_status rp_setting_number(const char *name, long least, long fallback, long *out,
                                 struct rp_problem *why)
{
    const char *value = rp_setting(name);
    char *end;

    *out = fallback;
    if (!value)
        return RP_OK;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || *end || end == value || number < least)
        return rp_fail(why, RP_USAGE, "%s=%s: a whole number of at least %ld is expected", name,
                       value, least);
    *out = number;
    return RP_OK;
}

bool rp_bytes_read(const char *text, long *out)
{
    static const struct {
        const char *unit;
        long bytes;
    } units[] = {{"", 1}, {"k", 1L << 10}, {"K", 1L << 10}, {"M", 1L << 20}, {"G", 1L << 30}};
    char *rest;

    errno = 0;
    long number = strtol(text, &rest, 10);
    if (errno || *text < '0' || *text > '9')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(rest, units[i].unit) == 0)
            return !__builtin_mul_overflow(number, units[i].bytes, out);
    return false;
}

enum rp_status rp_setting_bytes(const char *name, long fallback, long *out, struct rp_problem *why)
{
    const char *value = rp_setting(name);

    *out = fallback;
    if (value && !rp_bytes_read(value, out))
        return rp_fail(why, RP_USAGE,
                       "%s=%s: a number of bytes is expected, such as 65536, 64k or 16M", name,
                       value);
    return RP_OK;
}

bool rp_launched_rank(int *rank)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                            "SLURM_PROCID", "MV2_COMM_WORLD_RANK"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        if (text && *text)
            return sscanf(text, "%d", rank) == 1;
    }
    return false;
}

bool rp_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        size_t part = strcspn(at, ",");
        if (part == length && memcmp(at, word, length) == 0)
            return true;
        at += part;
    }
    return false;
}

bool rp_ranks_have(const char *list, long rank)
{
    if (list && strcmp(list, "all") == 0)
        return true;
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (rank >= first && rank <= last)
            return true;
        at = end + strcspn(end, ",");
    }
    return false;
}

bool rp_ranks_are_good(const char *list)
{
    if (strcmp(list, "all") == 0)
        return true;
    for (const char *at = list;;) {
        char *end;
        if (*at < '0' || *at > '9')
            return false;
        long first = strtol(at, &end, 10);
        if (*end == '-') {
            if (end[1] < '0' || end[1] > '9' || strtol(end + 1, &end, 10) < first)
                return false;
        }
        if (*end == 0)
            return true;
        if (*end != ',')
            return false;
        at = end + 1;
    }
}

char *rp_ranks_beyond(const char *list, long ranks)
{
    char *out = list ? calloc(1, 2 * strlen(list) + 64)
                     : NULL; /* a part may become longer: 9-99 becomes 10-99 */

    for (const char *at = list; out && strcmp(list, "all") != 0 && *at; at += strspn(at, ",")) {
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        char *to = out + strlen(out);
        first = first < ranks ? ranks : first;
        if (first < last)
            sprintf(to, "%s%ld-%ld", *out ? "," : "", first, last);
        else if (first == last)
            sprintf(to, "%s%ld", *out ? "," : "", first);
        at = end;
    }
    if (out && *out)
        return out;
    free(out);
    return NULL;
}
