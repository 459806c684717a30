/* SPDX-License-Identifier: MIT */
/*
 * A shuffled replay takes the messages of a task in another order in two ways: those of one
 * commutative entry among themselves, and those of one entry before those of another, where `ready`
 * lets either come. If its result is not the recorded one, either may be the reason, and what
 * differs first, a region or a state, may only follow from it.
 *
 * So the order of the shuffled replay is kept (log/task_trace_file.h), and followed by others that
 * leave a part of it free. One that ends with another result than the replay that it follows shows
 * that this part does not commute. First the entries keep their order, and the messages of each are
 * free. If that changes the result, the same is done entry by entry. If it does not, pairs of
 * entries are tried: those that come in another order in one more shuffled replay.
 */
#include "cli/taskshuffle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "log/task_trace_file.h"
#include "cli/launch.h"
#include "reprise.h"

enum { TRIES = 3, MOST_PAIRS = 16 };

struct pair {
    uint32_t collection;
    int32_t one, other;
};

struct search {
    const char *directory;
    rp_task_replay *replay;
    void *data;
    char folder[PATH_MAX - 64];
    int processes, null;
    unsigned long long seed;
    unsigned replays;
    off_t input;
    struct rp_tasktrace first;
    struct pair pairs[MOST_PAIRS];
    int pair_count;
};

static enum rp_status make_folder(struct search *x, struct rp_problem *why)
{
    const char *temporary = getenv("TMPDIR");
    char *base = rp_path_absolute(x->directory);

    snprintf(x->folder, sizeof x->folder, "%s/shuffle-%d", base ? base : ".", (int)getpid());
    free(base);
    if (mkdir(x->folder, 0700) == 0)
        return RP_OK;
    snprintf(x->folder, sizeof x->folder, "%s/reprise-shuffle-%d", temporary ? temporary : "/tmp",
             (int)getpid());
    return mkdir(x->folder, 0700) == 0
               ? RP_OK
               : rp_fail(why, RP_SYSTEM, "%s: %s", x->folder, strerror(errno));
}

static int count_processes(const char *directory)
{
    char name[64];
    int count = 0;

    for (bool found = true; found; count += found) {
        found = false;
        for (int journal = 0; journal < 2; journal++) {
            snprintf(name, sizeof name, "tasks-%05d%s", count, journal ? ".journal" : "");
            char *path = rp_path_join(directory, name);
            found |= path && access(path, F_OK) == 0;
            free(path);
        }
    }
    return count;
}

/* Its trace is written under that name. */
static int replay(struct search *x, const char *name, unsigned long long seed)
{
    char path[PATH_MAX], text[32];

    snprintf(path, sizeof path, "%s/%s", x->folder, name);
    rp_remove_directory(path);
    mkdir(path, 0700);
    snprintf(text, sizeof text, "%llu", seed);
    setenv("REPRISE_TASKS_TRACE", path, 1);
    setenv("REPRISE_SHUFFLE", text, 1);
    if (x->input >= 0)
        lseek(STDIN_FILENO, x->input, SEEK_SET);
    x->replays++;
    return x->replay(x->data);
}

static enum rp_status read_trace(const struct search *x, const char *name, struct rp_tasktrace *out,
                                 struct rp_problem *why)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", x->folder, name);
    return rp_tasktrace_read(path, x->processes, out, why);
}

/* A replay that nobody sees. */
static enum rp_status replay_again(struct search *x, struct rp_tasktrace *out,
                                   struct rp_problem *why)
{
    rp_launch_into(x->null, x->null);
    int exit_status = replay(x, "another", x->seed + x->replays);
    rp_launch_into(-1, -1);
    if (rp_launch_was_stopped())
        return rp_fail(why, RP_SYSTEM, "it was interrupted");
    if (exit_status != 0 && exit_status != REPRISE_EXIT_DIVERGED)
        return rp_fail(why, RP_SYSTEM, "a further replay ended with status %d", exit_status);
    return read_trace(x, "another", out, why);
}

/* Whether replays that follow the first, but for what is free, end with another result. */
static enum rp_status try_free(struct search *x, const char *what, bool *differs,
                               struct rp_problem *why)
{
    char path[PATH_MAX];
    enum rp_status status = RP_OK;

    snprintf(path, sizeof path, "%s/first", x->folder);
    setenv("REPRISE_TASKS_FOLLOW", path, 1);
    setenv("REPRISE_TASKS_FREE", what, 1);
    *differs = false;
    for (int i = 0; i < TRIES && status == RP_OK && !*differs; i++) {
        struct rp_tasktrace trace;
        status = replay_again(x, &trace, why);
        *differs = status == RP_OK && trace.result != x->first.result;
        rp_tasktrace_free(&trace);
    }
    unsetenv("REPRISE_TASKS_FOLLOW");
    unsetenv("REPRISE_TASKS_FREE");
    return status;
}

/* Messages of one entry */

/* Whether tasks took several messages of it. */
static bool is_used(const struct rp_tasktrace *trace, uint32_t collection, uint32_t entry)
{
    const struct rp_tasktrace_collection *c = &trace->collections[collection];
    unsigned count = 0;

    for (uint32_t i = c->first; i < c->first + c->count && count < 2; i++)
        for (size_t k = 0, of_task = 0; k < trace->tasks[i].count && count < 2; k++) {
            of_task += trace->tasks[i].list[k].entry == (int32_t)entry;
            count = of_task > 1 ? 2 : count;
        }
    return count == 2;
}

static void say_entry(const struct search *x, uint32_t collection, uint32_t entry)
{
    const struct rp_tasktrace_collection *c = &x->first.collections[collection];

    rp_error("entry '%s' of %s: its messages do not commute: in another order they change the "
             "result (seed %llu, %u replays)",
             c->names[entry], c->name, x->seed, x->replays);
}

static enum rp_status name_entries(struct search *x, struct rp_problem *why)
{
    enum rp_status status = RP_OK;
    unsigned named = 0;

    for (uint32_t c = 0; c < x->first.collection_count; c++)
        for (uint32_t e = 0; e < x->first.collections[c].entries && status == RP_OK; e++) {
            char what[40];
            bool differs = false;
            if (!x->first.collections[c].commutes[e] || !is_used(&x->first, c, e))
                continue;
            snprintf(what, sizeof what, "%u.%u", c, e);
            status = try_free(x, what, &differs, why);
            if (status == RP_OK && differs) {
                say_entry(x, c, e);
                named++;
            }
        }
    if (status == RP_OK && named == 0)
        rp_error("messages of a commutative entry do not commute: in another order they change the "
                 "result, but of no entry alone (seed %llu, %u replays)",
                 x->seed, x->replays);
    return status;
}

/* Messages of two entries */

static void add_pair(struct search *x, uint32_t collection, int32_t one, int32_t other)
{
    struct pair pair = {collection, one < other ? one : other, one < other ? other : one};

    if (one < 0 || other < 0 || x->pair_count == MOST_PAIRS)
        return;
    for (int i = 0; i < x->pair_count; i++)
        if (memcmp(&x->pairs[i], &pair, sizeof pair) == 0)
            return;
    x->pairs[x->pair_count++] = pair;
}

/* The first place at which the tasks of two replays took messages of different entries. */
static void compare_orders(struct search *x, const struct rp_tasktrace *other)
{
    for (uint32_t c = 0; c < x->first.collection_count; c++) {
        const struct rp_tasktrace_collection *collection = &x->first.collections[c];
        for (uint32_t i = collection->first;
             i < collection->first + collection->count && i < other->task_count; i++) {
            const struct rp_taken_list *a = &x->first.tasks[i], *b = &other->tasks[i];
            size_t k = 0;
            while (k < a->count && k < b->count && a->list[k].entry == b->list[k].entry)
                k++;
            if (k < a->count && k < b->count)
                add_pair(x, c, a->list[k].entry, b->list[k].entry);
        }
    }
}

static enum rp_status find_pairs(struct search *x, struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    for (int i = 0; i < TRIES && status == RP_OK && x->pair_count == 0; i++) {
        struct rp_tasktrace trace;
        status = replay_again(x, &trace, why);
        if (status == RP_OK)
            compare_orders(x, &trace);
        rp_tasktrace_free(&trace);
    }
    return status;
}

static void say_pair(const struct search *x, const struct pair *pair, bool is_sure)
{
    const struct rp_tasktrace_collection *c = &x->first.collections[pair->collection];

    rp_error("entries '%s' and '%s' of %s %s commute: which of them comes first changes the "
             "result, and 'ready' lets either (seed %llu, %u replays)",
             c->names[pair->one], c->names[pair->other], c->name, is_sure ? "do not" : "may not",
             x->seed, x->replays);
}

static enum rp_status name_pairs(struct search *x, struct rp_problem *why)
{
    enum rp_status status = find_pairs(x, why);
    bool any = false;

    for (int i = 0; i < x->pair_count && status == RP_OK; i++) {
        char what[60];
        bool differs = false;
        snprintf(what, sizeof what, "%u.%d.%d", x->pairs[i].collection, x->pairs[i].one,
                 x->pairs[i].other);
        status = try_free(x, what, &differs, why);
        if (status == RP_OK && differs)
            say_pair(x, &x->pairs[i], true);
        any |= differs;
    }
    for (int i = 0; i < x->pair_count && status == RP_OK && !any; i++)
        say_pair(x, &x->pairs[i], false);
    if (status == RP_OK && x->pair_count == 0)
        rp_error("which messages do not commute was not found in %u replays: those of each entry "
                 "do; try another seed than %llu (REPRISE_SHUFFLE)",
                 x->replays, x->seed);
    return status;
}

static enum rp_status find_reason(struct search *x, struct rp_problem *why)
{
    bool within;
    enum rp_status status = read_trace(x, "first", &x->first, why);

    if (status != RP_OK)
        return status;
    rp_note("the result is not the recorded one: looking for the entries that do not commute, by "
            "further replays");
    status = try_free(x, "entries", &within, why);
    if (status != RP_OK)
        return status;
    return within ? name_entries(x, why) : name_pairs(x, why);
}

int rp_task_shuffle(const char *directory, rp_task_replay *run, void *data)
{
    struct search x = {.directory = directory,
                       .replay = run,
                       .data = data,
                       .processes = count_processes(directory),
                       .input = lseek(STDIN_FILENO, 0, SEEK_CUR),
                       .null = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    struct rp_problem why;
    enum rp_status status = make_folder(&x, &why);

    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        return rp_exit_status(status);
    }
    x.seed = strtoull(rp_setting("REPRISE_SHUFFLE"), NULL, 10);
    int exit_status = replay(&x, "first", x.seed);
    if (exit_status == REPRISE_EXIT_DIVERGED && !rp_launch_was_stopped() &&
        (status = find_reason(&x, &why)) != RP_OK)
        rp_error("which entries do not commute was not found out: %s", why.text);
    rp_tasktrace_free(&x.first);
    rp_remove_directory(x.folder);
    if (x.null >= 0)
        close(x.null);
    return exit_status;
}
