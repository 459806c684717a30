/* SPDX-License-Identifier: MIT */
/* reprise status: how far a record is, the replays of it that are running, and the runs that leave
 * no record. */
#include <dirent.h>
#include <signal.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/running.h"
#include "cli/statusruns.h"
#include "cli/mpi_backtrace.h"
#include "log/progress.h"
#include "log/replaystate.h"
#include "log/rundir.h"
#include "report/facts.h"
#include "reprise.h"

#define U64(x) ((unsigned long long)(x))

static const char *json;

static const struct rp_option options[] = {
    {"--json", NULL, NULL, "as JSON", &json},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

/* A replay that is running, or a recording whose ranks write down what they wait for. */
struct running {
    int pid; /* that the file is named by */
    struct rp_replay_state *state;
};

struct status {
    char *directory; /* NULL: no record */
    struct rp_manifest manifest;
    struct rp_progress progress;
    struct rp_replay_state
        *waits;   /* of the recording; NULL: it has none, and its processes are looked at */
    bool is_here; /* it was started on this host */
    struct running *replay;
    size_t replays;
    struct rp_running *runs; /* without a record */
    size_t run_count;
};

static bool is_alive(int pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

/* Returns whether the replay still runs. The file of a replay that was killed stays behind. */
static bool is_running(int pid, const struct rp_replay_state *state)
{
    bool alive = is_alive(pid);

    for (uint32_t i = 0; i < state->ranks && !alive; i++)
        alive = is_alive((int)state->rank[i].pid);
    return alive;
}

static void add_replay(struct status *s, const char *name, int pid)
{
    struct rp_problem ignored;
    struct running *more = realloc(s->replay, (s->replays + 1) * sizeof *more);
    char *path = rp_path_join(s->directory, name);

    if (more)
        s->replay = more;
    if (more && path && rp_state_open(path, &more[s->replays].state, &ignored) == RP_OK) {
        more[s->replays].pid = pid;
        if (is_running(pid, more[s->replays].state))
            s->replays++;
        else
            rp_state_unmap(more[s->replays].state);
    }
    free(path);
}

static void find_replays(struct status *s)
{
    DIR *dir = opendir(s->directory);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        int pid, end = 0;
        if (sscanf(entry->d_name, "replay-%d.state%n", &pid, &end) == 1 && end > 0 &&
            entry->d_name[end] == 0)
            add_replay(s, entry->d_name, pid);
    }
    if (dir)
        closedir(dir);
}

/* Opens the state file of the recording, where `reprise stress` has it. */
static void find_waits(struct status *s)
{
    struct rp_problem ignored;
    char *path = NULL;

    if (s->progress.written == 0 || asprintf(&path, "%s.state", s->directory) < 0)
        return;
    if (rp_state_open(path, &s->waits, &ignored) == RP_OK && s->waits->ranks != s->manifest.ranks) {
        rp_state_unmap(s->waits);
        s->waits = NULL;
    }
    free(path);
}

static enum rp_status collect(const char *name, struct status *s, struct rp_problem *why)
{
    enum rp_status status = rp_run_find(name, &s->directory, why);

    if (status != RP_OK)
        return status;
    status = rp_manifest_read(s->directory, &s->manifest, why);
    if (status != RP_OK)
        return status;
    status = rp_progress_read(s->directory, &s->manifest, &s->progress, why);
    if (status != RP_OK) {
        rp_manifest_free(&s->manifest);
        return status;
    }
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    s->is_here = strcmp(host, s->manifest.host) == 0;
    find_waits(s);
    find_replays(s);
    return RP_OK;
}

static void release(struct status *s)
{
    for (size_t i = 0; i < s->replays; i++)
        rp_state_unmap(s->replay[i].state);
    rp_state_unmap(s->waits);
    free(s->replay);
    rp_progress_free(&s->progress);
    rp_manifest_free(&s->manifest);
}

static const struct rp_rank_slot *waiting(const struct rp_replay_state *state, uint32_t rank)
{
    return state && rank < state->ranks && rp_state_now(&state->rank[rank]) == RP_RANK_WAITING
               ? &state->rank[rank]
               : NULL;
}

static void put_wait(struct rp_buffer *out, const struct rp_rank_slot *slot)
{
    char what[RP_STATE_WHAT];

    rp_buffer_printf(out, "waits since %lld s: %s", rp_state_waited(slot),
                     rp_state_what(slot, what));
}

/* Sets *place to the MPI call that a rank is in which is being recorded. Returns false if it is in
 * none, or that is not known. */
static bool look_at(const struct status *s, uint32_t rank, struct rp_mpi_backtrace *place)
{
    const struct rp_rank_progress *r = &s->progress.rank[rank];

    return s->is_here && r->state == RP_PROGRESS_WRITTEN && !waiting(s->waits, rank) &&
           rp_mpi_backtrace_find(r->pid, place) && place->call[0];
}

static void put_place(struct rp_buffer *out, const struct rp_mpi_backtrace *place)
{
    rp_buffer_printf(out, "in %s", rp_text_shown(place->call));
    if (place->function[0])
        rp_buffer_printf(out, ", called in %s", rp_text_shown(place->function));
    if (place->file[0])
        rp_buffer_printf(out, " at %s:%d", rp_text_shown(place->file), place->line);
    if (place->through[0])
        rp_buffer_printf(out, " (through %s)", rp_text_shown(place->through));
}

static const char *word_of(const struct status *s)
{
    return s->progress.written    ? "is being written"
           : s->manifest.complete ? "complete"
                                  : "ended before its time";
}

/* Text */

static void put_rank(struct rp_buffer *out, const struct status *s, uint32_t i)
{
    const struct rp_rank_progress *r = &s->progress.rank[i];
    struct rp_mpi_backtrace place;

    rp_buffer_printf(out, "%6s %12llu %10llu  ", r->name, U64(r->events), U64(r->bytes));
    if (r->state == RP_PROGRESS_ABSENT)
        rp_buffer_printf(out, "has not started");
    else if (r->state == RP_PROGRESS_ENDED)
        rp_facts_put_end(out, r->reason, r->code);
    else if (waiting(s->waits, i))
        put_wait(out, waiting(s->waits, i));
    else if (r->polls > 0)
        rp_buffer_printf(out, "runs, %llu polls since its last event said no", U64(r->polls));
    else
        rp_buffer_printf(out, "runs");
    if (look_at(s, i, &place)) {
        rp_buffer_printf(out, ", ");
        put_place(out, &place);
    }
    if (r->state == RP_PROGRESS_WRITTEN)
        rp_buffer_printf(out, " (process %d)", (int)r->pid);
    rp_buffer_byte(out, '\n');
}

static double per_cent(uint64_t done, uint64_t total)
{
    return total ? 100.0 * (double)done / (double)total : 0.0;
}

static void put_replay(struct rp_buffer *out, const struct running *replay)
{
    const struct rp_replay_state *state = replay->state;
    uint64_t done, total;
    uint32_t slowest = rp_state_slowest(state);

    rp_state_sum(state, &done, &total);
    rp_buffer_printf(out, "\nreplay    process %d: %.1f %%, %llu of %llu events", replay->pid,
                     per_cent(done, total), U64(done), U64(total));
    if (slowest < state->ranks)
        rp_buffer_printf(out, "; slowest is rank %s: %.1f %%", state->rank[slowest].name,
                         per_cent(state->rank[slowest].done, state->rank[slowest].total));
    rp_buffer_byte(out, '\n');
    for (uint32_t i = 0; i < state->ranks; i++) {
        const struct rp_rank_slot *slot = &state->rank[i];
        rp_buffer_printf(out, "%6s %12llu of %llu, ", slot->name, U64(slot->done),
                         U64(slot->total));
        if (waiting(state, i))
            put_wait(out, slot);
        else
            rp_buffer_printf(out, "%s", rp_state_word(slot->state));
        rp_buffer_byte(out, '\n');
    }
}

static void put_text(struct rp_buffer *out, const struct status *s)
{
    const struct rp_progress *p = &s->progress;

    for (size_t i = 0; i < s->run_count; i++)
        rp_statusruns_put_text(out, &s->runs[i]);
    if (!s->directory)
        return;
    if (s->run_count > 0)
        rp_buffer_byte(out, '\n');
    rp_buffer_printf(out,
                     "record    %s, %s\nstarted   %s on %s\nevents    %llu on %u ranks; rank %s "
                     "has the fewest: %llu\nbytes     %llu\n\n",
                     rp_text_shown(s->directory), word_of(s), rp_text_shown(s->manifest.started),
                     rp_text_shown(s->manifest.host), U64(p->events), p->ranks,
                     p->ranks ? p->rank[p->behind].name : "",
                     U64(p->ranks ? p->rank[p->behind].events : 0), U64(p->bytes));
    rp_buffer_printf(out, "  rank       events      bytes  state\n");
    for (uint32_t i = 0; i < p->ranks; i++)
        put_rank(out, s, i);
    for (size_t i = 0; i < s->replays; i++)
        put_replay(out, &s->replay[i]);
}

/* JSON */

static void put_json_wait(struct rp_buffer *out, const struct rp_rank_slot *slot)
{
    char what[RP_STATE_WHAT];

    if (!slot)
        return;
    rp_buffer_printf(out, ", \"waits_for\": ");
    rp_json_put_string(out, rp_state_what(slot, what));
    rp_buffer_printf(out, ", \"waits_seconds\": %lld", rp_state_waited(slot));
}

static void put_json_place(struct rp_buffer *out, const struct rp_mpi_backtrace *place)
{
    rp_buffer_printf(out, ", \"call\": ");
    rp_json_put_string(out, place->call);
    if (place->function[0]) {
        rp_buffer_printf(out, ", \"function\": ");
        rp_json_put_string(out, place->function);
    }
    if (place->file[0]) {
        rp_buffer_printf(out, ", \"file\": ");
        rp_json_put_string(out, place->file);
        rp_buffer_printf(out, ", \"line\": %d", place->line);
    }
    if (place->through[0]) {
        rp_buffer_printf(out, ", \"through\": ");
        rp_json_put_string(out, place->through);
    }
}

static void put_json_rank(struct rp_buffer *out, const struct status *s, uint32_t i)
{
    static const char *const states[] = {"absent", "running", "ended"};
    const struct rp_rank_progress *r = &s->progress.rank[i];
    struct rp_buffer end = {0};
    struct rp_mpi_backtrace place;

    rp_buffer_printf(
        out,
        "%s\n    {\"rank\": %u, \"name\": \"%s\", \"state\": \"%s\", \"events\": %llu, "
        "\"bytes\": %llu",
        i ? "," : "", i, r->name, states[r->state], U64(r->events), U64(r->bytes));
    if (r->state == RP_PROGRESS_WRITTEN) {
        rp_buffer_printf(out, ", \"process\": %d, \"polls\": %llu", (int)r->pid, U64(r->polls));
        put_json_wait(out, waiting(s->waits, i));
        if (look_at(s, i, &place))
            put_json_place(out, &place);
    } else if (r->state == RP_PROGRESS_ENDED) {
        rp_facts_put_end(&end, r->reason, r->code);
        rp_buffer_byte(&end, 0);
        rp_buffer_printf(out, ", \"end\": ");
        rp_json_put_string(out, end.failed ? "" : (char *)end.bytes);
        rp_buffer_free(&end);
    }
    rp_buffer_byte(out, '}');
}

static void put_json_replay(struct rp_buffer *out, const struct running *replay, bool first)
{
    const struct rp_replay_state *state = replay->state;
    uint64_t done, total;

    rp_state_sum(state, &done, &total);
    rp_buffer_printf(out,
                     "%s\n    {\"process\": %d, \"done\": %llu, \"total\": %llu, \"per_cent\": "
                     "%.1f, \"ranks\": [",
                     first ? "" : ",", replay->pid, U64(done), U64(total), per_cent(done, total));
    for (uint32_t i = 0; i < state->ranks; i++) {
        const struct rp_rank_slot *slot = &state->rank[i];
        rp_buffer_printf(
            out,
            "%s\n      {\"rank\": %u, \"name\": \"%s\", \"state\": \"%s\", \"done\": %llu, "
            "\"total\": %llu",
            i ? "," : "", i, slot->name, rp_state_word(slot->state), U64(slot->done),
            U64(slot->total));
        put_json_wait(out, waiting(state, i));
        rp_buffer_byte(out, '}');
    }
    rp_buffer_printf(out, "]}");
}

static void put_json_runs(struct rp_buffer *out, const struct status *s)
{
    rp_buffer_printf(out, "\"runs\": [");
    for (size_t i = 0; i < s->run_count; i++) {
        rp_buffer_printf(out, "%s\n    ", i ? "," : "");
        rp_statusruns_put_json(out, &s->runs[i]);
    }
    rp_buffer_byte(out, ']');
}

static void put_json(struct rp_buffer *out, const struct status *s)
{
    const struct rp_progress *p = &s->progress;

    rp_buffer_printf(out, "{\n  ");
    put_json_runs(out, s);
    if (!s->directory) {
        rp_buffer_printf(out, "\n}\n");
        return;
    }
    rp_buffer_printf(out, ",\n  \"record\": ");
    rp_json_put_string(out, s->directory);
    rp_buffer_printf(out,
                     ",\n  \"state\": \"%s\",\n  \"events\": %llu,\n  \"bytes\": %llu,\n  "
                     "\"behind\": %u,\n  \"ranks\": [",
                     p->written             ? "running"
                     : s->manifest.complete ? "complete"
                                            : "incomplete",
                     U64(p->events), U64(p->bytes), p->behind);
    for (uint32_t i = 0; i < p->ranks; i++)
        put_json_rank(out, s, i);
    rp_buffer_printf(out, "\n  ],\n  \"replays\": [");
    for (size_t i = 0; i < s->replays; i++)
        put_json_replay(out, &s->replay[i], i == 0);
    rp_buffer_printf(out, "]\n}\n");
}

/* Sets s->runs to the runs that go on; with a name, only to that of this directory. */
static void choose_runs(struct status *s, const char *name)
{
    size_t kept = 0;
    char *directory = NULL;
    struct rp_problem ignored;

    s->runs = rp_running_list(&s->run_count);
    if (!name)
        return;
    if (rp_run_find(name, &directory, &ignored) != RP_OK)
        directory = NULL;
    for (size_t i = 0; i < s->run_count; i++) {
        bool is_meant = directory && strcmp(s->runs[i].directory, directory) == 0;
        struct rp_running other = s->runs[kept];
        s->runs[kept] = s->runs[i];
        s->runs[i] = other;
        kept += is_meant;
    }
    for (size_t i = kept; i < s->run_count; i++)
        rp_running_clear(&s->runs[i]);
    s->run_count = kept;
    free(directory);
}

/* Returns whether only runs are to be shown: no record was found (`status`), but there are runs. */
static bool is_without_record(struct status *s, enum rp_status status)
{
    if (status != RP_USAGE || s->run_count == 0)
        return false;
    free(s->directory);
    s->directory = NULL;
    return true;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct status s = {0};
    struct rp_problem why;
    struct rp_buffer text = {0};
    const char *name;

    if (!rp_options_one_run(command, argc, argv, &name))
        return REPRISE_EXIT_USAGE;
    choose_runs(&s, name);
    enum rp_status status = collect(name, &s, &why);
    if (status != RP_OK && !is_without_record(&s, status)) {
        rp_error("%s", why.text);
        rp_running_free(s.runs, s.run_count);
        free(s.directory);
        return rp_exit_status(status);
    }
    (json ? put_json : put_text)(&text, &s);
    if (!text.failed)
        rp_text_print(stdout, text.bytes, text.length);
    rp_buffer_free(&text);
    release(&s);
    rp_running_free(s.runs, s.run_count);
    free(s.directory);
    return fflush(stdout) == 0 ? 0 : REPRISE_EXIT_INTERNAL;
}

const struct rp_command rp_command_status = {
    .name = "status",
    .synopsis = "[options] [RUN]",
    .about = "show how far a recording, a replay or another run is, while it runs",
    .more = "RUN is a directory, a name in .reprise, or 'latest', which is the default. It also "
            "shows running replays of that record, with what their ranks wait for. Without RUN, it "
            "also shows running 'reprise det', 'ft' and 'stress' that were started in this "
            "directory. For a recording on this host, it shows the MPI call of each rank; for "
            "that, it stops each process for a moment.",
    .options = options,
    .run = run,
};
