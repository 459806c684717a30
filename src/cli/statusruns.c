/* SPDX-License-Identifier: MIT */
/*
 * Ranks of `det` and `stress` publish in a state file what they wait for, once that takes long.
 * Ranks of `ft` publish their rank and iteration in the roll. `reprise status` reads the stacks of
 * all ranks that do not publish what they wait for.
 */
#include "cli/statusruns.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "job/job_progress.h"
#include "cli/mpi_backtrace.h"
#include "job/job_names.h"
#include "log/replaystate.h"

/* A process of the run. */
struct member {
    int64_t rank; /* -1: a spare */
    char name[RP_PROCESS_NAME];
    int64_t done;             /* decisions, or iterations; -1: not known */
    int process;              /* 0: not known */
    const char *state;        /* "runs", ... */
    long long waited;         /* seconds */
    char what[RP_STATE_WHAT]; /* empty: it does not say */
    struct rp_mpi_backtrace place;
};

static bool is_alive(int process)
{
    return process > 0 && (kill(process, 0) == 0 || errno == EPERM);
}

static struct member member_of_slot(const struct rp_rank_slot *slot, uint32_t rank, bool counts)
{
    struct member m = {.rank = rank,
                       .done = counts ? (int64_t)slot->done : -1,
                       .process = (int)slot->pid,
                       .state = rp_state_word(rp_state_now(slot))};

    memcpy(m.name, slot->name, sizeof m.name);
    if (m.process == 0)
        m.state = rp_state_word(RP_RANK_ABSENT);
    else if (!is_alive(m.process))
        m.state = rp_state_word(RP_RANK_ENDED);
    else if (slot->state == RP_RANK_ABSENT)
        m.state = rp_state_word(RP_RANK_RUNNING);
    if (rp_state_now(slot) == RP_RANK_WAITING && is_alive(m.process)) {
        m.waited = rp_state_waited(slot);
        rp_state_what(slot, m.what);
    }
    return m;
}

static struct member member_of_line(const struct rp_process_progress *line, size_t number,
                                    int64_t ranks)
{
    static const char *const states[] = {"has not started", "has not called MPI_Init",
                                         "is in MPI_Init", "runs"};
    int32_t state = line->state;
    struct member m = {
        .rank = line->rank > 0            ? line->rank - 1
                : (int64_t)number < ranks ? (int64_t)number
                                          : -1,
        .done = line->iteration - 1,
        .process = line->process,
        .state = states[state >= RP_PROCESS_UNSEEN && state <= RP_PROCESS_INSIDE ? state : 0]};

    if (m.rank >= 0)
        rp_process_name("", m.rank, m.name);
    else
        strcpy(m.name, "spare");
    if (m.process > 0 && !is_alive(m.process))
        m.state = line->left ? "has ended" : "has died";
    else if (m.rank < 0 && state == RP_PROCESS_INSIDE)
        m.state = "is ready to replace a rank";
    return m;
}

/* Where a process is that does not say what it waits for. */
static void look(struct member *m)
{
    if (!m->what[0] && is_alive(m->process) && !rp_mpi_backtrace_find(m->process, &m->place))
        m->place.call[0] = 0;
}

typedef void put_member(struct rp_buffer *out, const struct rp_running *run, const struct member *m,
                        bool is_first);

static void put_slots(struct rp_buffer *out, const struct rp_running *run,
                      const struct rp_replay_state *state, put_member *put)
{
    for (uint32_t i = 0; i < state->ranks; i++) {
        if (state->rank[i].state == RP_RANK_UNSPAWNED)
            continue;
        struct member m = member_of_slot(&state->rank[i], i, strcmp(run->kind, "det") == 0);
        look(&m);
        put(out, run, &m, i == 0);
    }
}

static void put_lines(struct rp_buffer *out, const struct rp_running *run, put_member *put)
{
    size_t lines;
    const struct rp_process_progress *roll = rp_job_progress_look(run->roll, &lines);

    for (size_t i = 0; roll && i < lines; i++) {
        struct member m = member_of_line(&roll[i], i, run->ranks);
        look(&m);
        put(out, run, &m, i == 0);
    }
}

static void put_members(struct rp_buffer *out, const struct rp_running *run, put_member *put)
{
    struct rp_replay_state *state;
    struct rp_problem ignored;

    if (run->roll[0]) {
        put_lines(out, run, put);
    } else if (run->state[0] && rp_state_open(run->state, &state, &ignored) == RP_OK) {
        put_slots(out, run, state, put);
        rp_state_unmap(state);
    }
}

/* Text */

static void put_place(struct rp_buffer *out, const struct rp_mpi_backtrace *place)
{
    rp_buffer_printf(out, ", in %s", place->call);
    if (place->function[0])
        rp_buffer_printf(out, ", called in %s", place->function);
    if (place->file[0])
        rp_buffer_printf(out, " at %s:%d", place->file, place->line);
}

static void put_line(struct rp_buffer *out, const struct rp_running *run, const struct member *m,
                     bool is_first)
{
    if (is_first)
        rp_buffer_printf(out, "  rank %12s  state\n",
                         strcmp(run->kind, "det") == 0  ? "decisions"
                         : strcmp(run->kind, "ft") == 0 ? "iteration"
                                                        : "");
    rp_buffer_printf(out, "%6s ", m->name);
    if (m->done >= 0)
        rp_buffer_printf(out, "%12lld  ", (long long)m->done);
    else
        rp_buffer_printf(out, "%12s  ", "");
    if (m->what[0])
        rp_buffer_printf(out, "waits since %lld s: %s", m->waited, m->what);
    else
        rp_buffer_printf(out, "%s", m->state);
    if (m->place.call[0])
        put_place(out, &m->place);
    if (m->process > 0)
        rp_buffer_printf(out, " (process %d)", m->process);
    rp_buffer_byte(out, '\n');
}

void rp_statusruns_put_text(struct rp_buffer *out, const struct rp_running *run)
{
    rp_buffer_printf(out, "%-9s process %d, since %lld s: %s\n", run->kind, run->process,
                     (long long)run->seconds, run->command);
    if (run->progress[0])
        rp_buffer_printf(out, "at        %s\n", run->progress);
    if (run->record[0])
        rp_buffer_printf(out, "record    %s\n", run->record);
    put_members(out, run, put_line);
}

/* JSON */

static void put_text(struct rp_buffer *out, const char *name, const char *text)
{
    rp_buffer_printf(out, ", \"%s\": ", name);
    rp_json_put_string(out, text);
}

static void put_object(struct rp_buffer *out, const struct rp_running *run, const struct member *m,
                       bool is_first)
{
    rp_buffer_printf(out, "%s\n      {\"rank\": %lld", is_first ? "" : ",", (long long)m->rank);
    put_text(out, "name", m->name);
    put_text(out, "state", m->what[0] ? "waits" : m->state);
    if (m->done >= 0)
        rp_buffer_printf(out, ", \"%s\": %lld",
                         strcmp(run->kind, "ft") == 0 ? "iteration" : "decisions",
                         (long long)m->done);
    if (m->process > 0)
        rp_buffer_printf(out, ", \"process\": %d", m->process);
    if (m->what[0]) {
        put_text(out, "waits_for", m->what);
        rp_buffer_printf(out, ", \"waits_seconds\": %lld", m->waited);
    }
    if (m->place.call[0])
        put_text(out, "call", m->place.call);
    if (m->place.function[0])
        put_text(out, "function", m->place.function);
    if (m->place.file[0]) {
        put_text(out, "file", m->place.file);
        rp_buffer_printf(out, ", \"line\": %d", m->place.line);
    }
    rp_buffer_byte(out, '}');
}

void rp_statusruns_put_json(struct rp_buffer *out, const struct rp_running *run)
{
    rp_buffer_printf(out, "{\"process\": %d, \"seconds\": %lld", run->process,
                     (long long)run->seconds);
    put_text(out, "kind", run->kind);
    put_text(out, "command", run->command);
    if (run->progress[0])
        put_text(out, "progress", run->progress);
    if (run->record[0])
        put_text(out, "record", run->record);
    rp_buffer_printf(out, ", \"ranks\": [");
    put_members(out, run, put_object);
    rp_buffer_printf(out, "]}");
}
