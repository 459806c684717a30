/* SPDX-License-Identifier: MIT */
#include "report/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/text.h"
#include "log/dataformat.h"
#include "log/jobs.h"
#include "log/logreader.h"

#define U64(x) ((unsigned long long)(x))

/* Takes the path over. */
static uint64_t size_of(char *path)
{
    struct stat st;
    uint64_t size = path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;

    free(path);
    return size;
}

/* Without `whole`, a log that has its end is believed what that says. */
static enum rp_status collect_rank(const char *directory, const struct rp_manifest *manifest,
                                   uint32_t rank, bool whole, struct rp_rank_facts *facts,
                                   struct rp_problem *why)
{
    struct rp_log *log;
    struct rp_log_sum sum;
    enum rp_status status = rp_log_open(directory, manifest->run, rank, manifest->ranks, &log, why);

    if (status != RP_OK)
        return status;
    struct rp_log_end end = rp_log_end(log);
    if (whole || end.reason == RP_END_KILLED || end.reason == RP_END_STOPPED)
        status = rp_log_verify(log, &sum, why);
    else
        sum = (struct rp_log_sum){.events = end.events,
                                  .receives = end.receives,
                                  .digest = end.digest};
    if (status == RP_OK)
        *facts = (struct rp_rank_facts){sum.events, sum.receives, sum.polls, rp_log_size(log),
                                        sum.digest, end.reason,   end.code,  0};
    rp_log_free(log);
    return status;
}

void rp_facts_add(struct rp_facts *facts, uint32_t rank, const struct rp_rank_facts *of_rank)
{
    facts->rank[rank] = *of_rank;
    facts->rank[rank].data = size_of(rp_data_path(facts->directory, rank)) +
                             size_of(rp_data_kind_path(&rp_data_of_loads, facts->directory, rank)) +
                             size_of(rp_data_kind_path(&rp_data_of_turns, facts->directory, rank));
    facts->sum.events += of_rank->events;
    facts->sum.receives += of_rank->receives;
    facts->sum.polls += of_rank->polls;
    facts->sum.bytes += of_rank->bytes;
    facts->sum.data += facts->rank[rank].data;
    facts->sum.digest = rp_digest_word(facts->sum.digest, of_rank->digest);
    facts->stopped += of_rank->reason == RP_END_STOPPED;
    facts->unfinished += of_rank->reason != RP_END_FINALIZE;
}

enum rp_status rp_facts_begin(const char *directory, struct rp_facts *out, struct rp_problem *why)
{
    memset(out, 0, sizeof *out);
    enum rp_status status = rp_manifest_read(directory, &out->manifest, why);

    if (status != RP_OK)
        return status;
    out->directory = strdup(directory);
    out->rank = calloc(out->manifest.ranks, sizeof *out->rank);
    out->sum.digest = RP_DIGEST_START;
    if (out->directory && out->rank)
        return RP_OK;
    rp_facts_free(out);
    return rp_fail(why, RP_MEMORY, "out of memory");
}

static enum rp_status collect_job(const char *directory, bool whole, struct rp_facts *out,
                                  struct rp_problem *why)
{
    struct rp_rank_facts rank;
    enum rp_status status = rp_facts_begin(directory, out, why);

    if (status != RP_OK)
        return status;
    for (uint32_t i = 0; status == RP_OK && i < out->manifest.ranks; i++) {
        status = collect_rank(directory, &out->manifest, i, whole, &rank, why);
        if (status == RP_OK)
            rp_facts_add(out, i, &rank);
    }
    if (status != RP_OK)
        rp_facts_free(out);
    return status;
}

static void add_job(struct rp_facts *facts, const struct rp_facts *job)
{
    facts->sum.events += job->sum.events;
    facts->sum.receives += job->sum.receives;
    facts->sum.polls += job->sum.polls;
    facts->sum.bytes += job->sum.bytes;
    facts->sum.data += job->sum.data;
    facts->sum.digest = rp_digest_word(facts->sum.digest, job->sum.digest);
    facts->stopped += job->stopped;
    facts->unfinished += job->unfinished;
    facts->children += job->manifest.ranks;
    facts->jobs++;
}

static enum rp_status collect_children(const struct rp_jobs *jobs, bool whole, struct rp_facts *out,
                                       struct rp_problem *why)
{
    struct rp_problem inner;
    enum rp_status status = RP_OK;

    out->job = calloc(jobs->count, sizeof *out->job);
    if (!out->job)
        return rp_fail(why, RP_MEMORY, "out of memory");
    for (size_t i = 1; status == RP_OK && i < jobs->count; i++) {
        status = collect_job(jobs->job[i].directory, whole, &out->job[i - 1], &inner);
        if (status == RP_OK)
            add_job(out, &out->job[i - 1]);
        else
            rp_fail(why, status, "job %s: %s", jobs->job[i].name, inner.text);
    }
    return status;
}

/* The part of a record that is a spawned job's may be looked at by itself. */
static enum rp_status collect(const char *directory, bool whole, struct rp_facts *out,
                              struct rp_problem *why)
{
    struct rp_jobs jobs = {0};
    enum rp_status status = collect_job(directory, whole, out, why);

    if (status != RP_OK || *out->manifest.job)
        return status;
    status = rp_jobs_read(directory, &jobs, why);
    if (status == RP_OK)
        status = collect_children(&jobs, whole, out, why);
    rp_jobs_free(&jobs);
    if (status != RP_OK)
        rp_facts_free(out);
    return status;
}

enum rp_status rp_facts_collect(const char *directory, struct rp_facts *out, struct rp_problem *why)
{
    return collect(directory, true, out, why);
}

enum rp_status rp_facts_summary(const char *directory, struct rp_facts *out, struct rp_problem *why)
{
    return collect(directory, false, out, why);
}

void rp_facts_free(struct rp_facts *facts)
{
    for (size_t i = 0; i < facts->jobs; i++)
        rp_facts_free(&facts->job[i]);
    free(facts->job);
    rp_manifest_free(&facts->manifest);
    free(facts->directory);
    free(facts->rank);
    memset(facts, 0, sizeof *facts);
}

void rp_facts_put_end(struct rp_buffer *out, enum rp_end_reason reason, int64_t code)
{
    switch (reason) {
    case RP_END_FINALIZE:
        rp_buffer_printf(out, "finished");
        break;
    case RP_END_ABORT:
        rp_buffer_printf(out, "called MPI_Abort(%lld)", (long long)code);
        break;
    case RP_END_EXIT:
        rp_buffer_printf(out, "exited with status %lld without MPI_Finalize", (long long)code);
        break;
    case RP_END_STOPPED:
        rp_buffer_printf(out, "could no longer be recorded: %s", strerror((int)code));
        break;
    case RP_END_KILLED:
        rp_buffer_printf(out, "ended by a signal, or by _exit");
        break;
    }
}

static double bytes_a_receive(const struct rp_rank_facts *facts)
{
    return facts->receives ? (double)facts->bytes / (double)facts->receives : 0.0;
}

void rp_facts_put_summary(struct rp_buffer *out, const struct rp_facts *facts)
{
    char ranks[RP_RANKS_WORDS];

    rp_buffer_printf(out, "recorded %llu events on %s: %llu bytes, %.3f bytes a receive, ",
                     U64(facts->sum.events),
                     rp_ranks_words(facts->manifest.ranks, facts->children, ranks),
                     U64(facts->sum.bytes), bytes_a_receive(&facts->sum));
    if (facts->sum.data > 0)
        rp_buffer_printf(out, "and %llu bytes of data, ", U64(facts->sum.data));
    rp_buffer_printf(out, "in %s", rp_text_shown(facts->directory));
    if (facts->unfinished > 0)
        rp_buffer_printf(out, " (%u rank%s did not finish)", facts->unfinished,
                         facts->unfinished == 1 ? "" : "s");
}

static void put_command(struct rp_buffer *out, char **words)
{
    for (char **word = words; *word; word++) {
        if (word != words)
            rp_buffer_byte(out, ' ');
        rp_buffer_shell_word(out, *word);
    }
}

/* Of the ranks that can be replayed alone. */
static void put_data(struct rp_buffer *out, const struct rp_facts *facts)
{
    struct rp_buffer list = {0};
    uint32_t count = 0, ranks = facts->manifest.ranks;

    for (uint32_t i = 0, first; i < ranks; i++) {
        for (first = i; i < ranks && facts->rank[i].data > 0; i++)
            count++;
        if (i > first)
            rp_buffer_printf(&list, "%s%u", list.length ? "," : "", first);
        if (i > first + 1)
            rp_buffer_printf(&list, "-%u", i - 1);
    }
    rp_buffer_byte(&list, 0);
    if (count > 0 && !list.failed)
        rp_buffer_printf(out, "data      %llu bytes, of %u rank%s: %s\n", U64(facts->sum.data),
                         count, count == 1 ? "" : "s", (char *)list.bytes);
    rp_buffer_free(&list);
}

static void put_ranks(struct rp_buffer *out, const struct rp_facts *facts)
{
    char name[RP_PROCESS_NAME];

    for (uint32_t i = 0; i < facts->manifest.ranks; i++) {
        const struct rp_rank_facts *r = &facts->rank[i];
        rp_buffer_printf(out, "%6s %12llu %12llu %12llu %10llu  %016llx  ",
                         rp_process_name(facts->manifest.job, i, name), U64(r->events),
                         U64(r->receives), U64(r->polls), U64(r->bytes), U64(r->digest));
        rp_facts_put_end(out, r->reason, r->code);
        rp_buffer_byte(out, '\n');
    }
}

static void put_jobs(struct rp_buffer *out, const struct rp_facts *facts)
{
    for (size_t i = 0; i < facts->jobs; i++) {
        const struct rp_manifest *m = &facts->job[i].manifest;
        rp_buffer_printf(out, "%s %s (%u): ", i == 0 ? "spawned  " : "         ",
                         rp_text_shown(m->job), m->ranks);
        put_command(out, m->command);
        rp_buffer_byte(out, '\n');
    }
}

void rp_facts_put_text(struct rp_buffer *out, const struct rp_facts *facts)
{
    const struct rp_manifest *m = &facts->manifest;
    char words[RP_RANKS_WORDS];

    if (facts->children > 0)
        rp_ranks_words(m->ranks, facts->children, words);
    else
        snprintf(words, sizeof words, "%u", m->ranks);

    rp_buffer_printf(out, "record    %s%s\ncommand   ", rp_text_shown(facts->directory),
                     m->complete ? "" : " (incomplete)");
    put_command(out, m->command);
    rp_buffer_printf(out, "\nprogram   %s (build id %s)\n", rp_text_shown(m->program),
                     rp_text_shown(m->build_id));
    rp_buffer_printf(out, "mpi       %s: %s\n", rp_text_shown(m->mpi),
                     rp_text_shown(m->mpi_version));
    rp_buffer_printf(out, "started   %s on %s in %s, by reprise %s\n", rp_text_shown(m->started),
                     rp_text_shown(m->host), rp_text_shown(m->directory),
                     rp_text_shown(m->reprise));
    rp_buffer_printf(out,
                     "ranks     %s\nevents    %llu, for %llu receives; polls answered no %llu\n",
                     words, U64(facts->sum.events), U64(facts->sum.receives),
                     U64(facts->sum.polls));
    rp_buffer_printf(out, "bytes     %llu, %.3f a receive\n", U64(facts->sum.bytes),
                     bytes_a_receive(&facts->sum));
    put_data(out, facts);
    put_jobs(out, facts);
    rp_buffer_printf(out, "digest    %016llx\n\n", U64(facts->sum.digest));
    rp_buffer_printf(out, "%6s %12s %12s %12s %10s  %-16s  %s\n", "rank", "events", "receives",
                     "polls", "bytes", "digest", "end");
    put_ranks(out, facts);
    for (size_t i = 0; i < facts->jobs; i++)
        put_ranks(out, &facts->job[i]);
}

static void put_json_text(struct rp_buffer *out, const char *indent, const char *key,
                          const char *value)
{
    rp_buffer_printf(out, ",\n%s\"%s\": ", indent, key);
    rp_json_put_string(out, value);
}

static void put_json_counts(struct rp_buffer *out, const struct rp_rank_facts *r)
{
    rp_buffer_printf(out,
                     "\"events\": %llu, \"receives\": %llu, \"polls\": %llu, \"bytes\": %llu, ",
                     U64(r->events), U64(r->receives), U64(r->polls), U64(r->bytes));
    if (r->data > 0)
        rp_buffer_printf(out, "\"data\": %llu, ", U64(r->data));
    rp_buffer_printf(out, "\"digest\": \"%016llx\"", U64(r->digest));
}

static void put_json_rank(struct rp_buffer *out, const char *indent, const struct rp_rank_facts *r,
                          uint32_t rank)
{
    struct rp_buffer end = {0};

    rp_facts_put_end(&end, r->reason, r->code);
    rp_buffer_byte(&end, 0);
    rp_buffer_printf(out, "%s\n%s  {\"rank\": %u, ", rank ? "," : "", indent, rank);
    put_json_counts(out, r);
    rp_buffer_printf(out, ", \"end\": ");
    rp_json_put_string(out, end.failed ? "" : (char *)end.bytes);
    rp_buffer_printf(out, "}");
    rp_buffer_free(&end);
}

static void put_json_jobs(struct rp_buffer *out, const struct rp_facts *facts, const char *indent)
{
    if (facts->jobs == 0)
        return;
    rp_buffer_printf(out, ",\n%s\"spawned\": [", indent);
    for (size_t j = 0; j < facts->jobs; j++) {
        const struct rp_facts *job = &facts->job[j];
        rp_buffer_printf(out, "%s\n%s  {\"job\": \"%s\", \"complete\": %s, \"by_rank\": [",
                         j ? "," : "", indent, job->manifest.job,
                         job->manifest.complete ? "true" : "false");
        for (uint32_t i = 0; i < job->manifest.ranks; i++)
            put_json_rank(out, indent, &job->rank[i], i);
        rp_buffer_printf(out, "\n%s  ]}", indent);
    }
    rp_buffer_printf(out, "\n%s]", indent);
}

void rp_facts_put_members(struct rp_buffer *out, const struct rp_facts *facts, const char *indent)
{
    const struct rp_manifest *m = &facts->manifest;

    rp_buffer_printf(out, "%s\"record\": ", indent);
    rp_json_put_string(out, facts->directory);
    rp_buffer_printf(out, ",\n%s\"complete\": %s,\n%s\"run\": \"%016llx\",\n%s\"ranks\": %u",
                     indent, m->complete ? "true" : "false", indent, U64(m->run), indent, m->ranks);
    put_json_text(out, indent, "mpi", m->mpi);
    put_json_text(out, indent, "mpi_version", m->mpi_version);
    put_json_text(out, indent, "program", m->program);
    put_json_text(out, indent, "build_id", m->build_id);
    put_json_text(out, indent, "directory", m->directory);
    put_json_text(out, indent, "host", m->host);
    put_json_text(out, indent, "started", m->started);
    put_json_text(out, indent, "reprise", m->reprise);
    rp_buffer_printf(out, ",\n%s\"command\": [", indent);
    for (char **word = m->command; *word; word++) {
        if (word != m->command)
            rp_buffer_printf(out, ", ");
        rp_json_put_string(out, *word);
    }
    rp_buffer_printf(out, "],\n%s\"sum\": {", indent);
    put_json_counts(out, &facts->sum);
    rp_buffer_printf(out, "},\n%s\"by_rank\": [", indent);
    for (uint32_t i = 0; i < m->ranks; i++)
        put_json_rank(out, indent, &facts->rank[i], i);
    rp_buffer_printf(out, "\n%s]", indent);
    put_json_jobs(out, facts, indent);
}

void rp_facts_put_json(struct rp_buffer *out, const struct rp_facts *facts)
{
    rp_buffer_printf(out, "{\n");
    rp_facts_put_members(out, facts, "  ");
    rp_buffer_printf(out, "\n}\n");
}
