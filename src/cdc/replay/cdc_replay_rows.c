/* SPDX-License-Identifier: MIT */
/*
 * Of codec cdc there is one sequence of tables for all call sites. Of the others, and of what only
 * the ring of a killed process held, a queue of rows for each site; chunks are read when a queue is
 * empty.
 *
 * Late messages of all tables are collected when the log is opened: whether a message belongs to a
 * table can be asked before the table that lists it was reached.
 */
#include "cdc/replay/cdc_replay_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cdc/codec/indices.h"
#include "event/naming.h"
#include "event/site.h"
#include "entry/refuse.h"
#include "reprise.h"

struct queue {
    struct rp_row *rows;
    size_t count, at;
    size_t message; /* no row from `at` up to this one is a message */
    uint64_t polls; /* of the UNMATCHED row at the front that were answered */
};

struct late {
    int32_t rank;
    uint64_t clock, table;
};

static struct {
    struct rp_log *log;
    bool check_sites;
    struct rp_site_table sites;
    uint32_t *recorded; /* by site here: the record's + 1, or UINT32_MAX: it has none */
    size_t recorded_room;
    struct rp_row_chunk chunk;
    bool has_chunk, at_end;
    /* cdc */
    size_t table;    /* of the chunk */
    uint64_t number; /* of the table */
    uint32_t entry, message;
    size_t unmatched, other, index;
    uint64_t polls;
    struct rp_indices guess;
    bool has_guess;
    struct late *late;
    size_t late_count, late_room;
    struct queue *queues; /* by site of the record */
    uint64_t done, total;
} rows;

static void fail(const struct rp_problem *why)
{
    rp_error("%s", why->text);
    rp_end_job(REPRISE_EXIT_DAMAGED);
}

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for rows");
    return memory;
}

/* Opening */

static void add_late(int32_t rank, uint64_t clock, uint64_t table)
{
    if (rows.late_count == rows.late_room) {
        rows.late_room = rows.late_room ? rows.late_room * 2 : 64;
        rows.late = need(realloc(rows.late, rows.late_room * sizeof *rows.late));
    }
    rows.late[rows.late_count++] = (struct late){rank, clock, table};
}

static int by_message(const void *one, const void *other)
{
    const struct late *a = one, *b = other;

    if (a->clock != b->clock)
        return a->clock < b->clock ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void collect_late(const struct rp_row_chunk *chunk, uint64_t *table)
{
    for (size_t i = 0; i < chunk->cdc.table_count; i++, ++*table)
        for (size_t k = 0; k < chunk->cdc.tables[i].late_count; k++)
            add_late(chunk->cdc.tables[i].late[k].rank, chunk->cdc.tables[i].late[k].clock, *table);
    for (size_t i = 0; *table > 0 && i < chunk->tables.row_count; i++)
        if (chunk->tables.rows[i].kind == RP_ROW_MESSAGE)
            add_late(chunk->tables.rows[i].rank, chunk->tables.rows[i].clock, UINT64_MAX);
}

enum rp_status rp_cdc_replay_rows_open(struct rp_log *log, bool check_sites, const char *wrappers,
                                       struct rp_problem *why)
{
    struct rp_row_chunk chunk;
    struct rp_row_sum sum;
    uint64_t table = 0;
    bool found;
    enum rp_status status;

    rows.log = log;
    rows.check_sites = check_sites;
    if (!rp_site_table_init(&rows.sites))
        return rp_fail(why, RP_MEMORY, "out of memory");
    rows.sites.wrappers = wrappers;
    rp_log_rewind(log);
    while ((status = rp_log_next_rows(log, &chunk, &found, why)) == RP_OK && found) {
        collect_late(&chunk, &table);
        rp_row_chunk_sum(&chunk, &sum);
        rows.total += sum.rows;
        rp_row_chunk_free(&chunk);
    }
    rp_log_rewind(log);
    if (rows.late_count > 0)
        qsort(rows.late, rows.late_count, sizeof *rows.late, by_message);
    rows.queues = calloc(rp_log_site_table(log)->site_count + 1, sizeof *rows.queues);
    return rows.queues || status != RP_OK ? status : rp_fail(why, RP_MEMORY, "out of memory");
}

bool rp_cdc_replay_rows_is_late(int32_t rank, uint64_t clock)
{
    struct late key = {rank, clock, 0};
    const struct late *found =
        rows.late_count ? bsearch(&key, rows.late, rows.late_count, sizeof key, by_message) : NULL;

    return found && found->table > rows.number;
}

/* Chunks */

static void append(struct queue *queue, const struct rp_row_table *table)
{
    size_t left = queue->count - queue->at;
    struct rp_row *more = need(malloc((left + table->count) * sizeof *more));

    if (left > 0)
        memcpy(more, queue->rows + queue->at, left * sizeof *more);
    memcpy(more + left, table->rows, table->count * sizeof *more);
    free(queue->rows);
    queue->rows = more;
    queue->count = left + table->count;
    queue->at = queue->message = 0;
}

static void begin_table(void)
{
    const struct rp_cdc_table *table = &rows.chunk.cdc.tables[rows.table];

    rows.entry = rows.message = 0;
    rows.unmatched = rows.other = rows.index = 0;
    rows.polls = 0;
    if (rows.has_guess)
        rp_indices_free(&rows.guess);
    rows.has_guess = rp_indices_init(&rows.guess, table->message_count);
    if (!rows.has_guess)
        need(NULL);
}

static bool load_chunk(void)
{
    struct rp_problem why;
    bool found;

    if (rows.at_end)
        return false;
    if (rows.has_chunk)
        rp_row_chunk_free(&rows.chunk);
    rows.has_chunk = false;
    if (rp_log_next_rows(rows.log, &rows.chunk, &found, &why) != RP_OK)
        fail(&why);
    rows.at_end = !found;
    if (!found)
        return false;
    rows.has_chunk = true;
    rows.table = 0;
    if (rows.chunk.is_cdc && rows.chunk.cdc.table_count > 0)
        begin_table();
    for (size_t i = 0; i < rows.chunk.tables.table_count; i++)
        append(&rows.queues[rows.chunk.tables.tables[i].site], &rows.chunk.tables.tables[i]);
    return true;
}

static bool table_is_done(const struct rp_cdc_table *table)
{
    return rows.entry == table->entry_count && rows.unmatched == table->unmatched_count;
}

/* The table at the front; NULL: none is left. */
static const struct rp_cdc_table *front_table(void)
{
    for (;;) {
        if (rows.has_chunk && rows.chunk.is_cdc && rows.table < rows.chunk.cdc.table_count) {
            const struct rp_cdc_table *table = &rows.chunk.cdc.tables[rows.table];
            if (!table_is_done(table))
                return table;
            rows.table++;
            rows.number++;
            if (rows.table < rows.chunk.cdc.table_count)
                begin_table();
            continue;
        }
        if ((rows.has_chunk && !rows.chunk.is_cdc) || !load_chunk())
            return NULL;
    }
}

const struct rp_cdc_table *rp_cdc_replay_rows_table(uint64_t *number)
{
    const struct rp_cdc_table *table = front_table();

    *number = rows.number;
    return table;
}

/* Sites */

static uint32_t find_recorded(const struct rp_call *call, uint32_t here)
{
    const struct rp_site_table *table = rp_log_site_table(rows.log);

    for (uint32_t i = 0; rows.check_sites && i < table->site_count; i++)
        if (rp_site_same_chain(&rows.sites, here, table, i))
            return i + 1;
    for (uint32_t i = 0; i < table->site_count; i++)
        if (strcmp(table->sites[i].function, call->function) == 0 &&
            (!rows.check_sites || rp_site_same(&rows.sites, here, table, i)))
            return i + 1;
    return UINT32_MAX;
}

/* Returns the record's number of this call site + 1; UINT32_MAX if it has none. */
static uint32_t recorded_site(const struct rp_call *call)
{
    uint32_t here = rp_site_find(&rows.sites, call->function, call->return_address, call->stack);

    if (here >= rows.recorded_room) {
        size_t room = (here + 1u) * 2;
        rows.recorded = need(realloc(rows.recorded, room * sizeof *rows.recorded));
        memset(rows.recorded + rows.recorded_room, 0,
               (room - rows.recorded_room) * sizeof *rows.recorded);
        rows.recorded_room = room;
    }
    if (rows.recorded[here] == 0)
        rows.recorded[here] = find_recorded(call, here);
    return rows.recorded[here];
}

static struct queue *queue_of(const struct rp_call *call)
{
    uint32_t site = recorded_site(call);
    struct queue *queue = site == UINT32_MAX ? NULL : &rows.queues[site - 1];

    while (queue && queue->at == queue->count && load_chunk())
        ;
    return queue && queue->at < queue->count ? queue : NULL;
}

/* Rows */

static struct rp_answer next_of_table(const struct rp_cdc_table *table)
{
    struct rp_answer answer = {.kind = RP_ROW_MESSAGE};

    if (rows.unmatched < table->unmatched_count &&
        table->unmatched[rows.unmatched].entry == rows.entry) {
        answer.kind = RP_ROW_UNMATCHED;
        return answer;
    }
    answer.with_next = table->with_next[rows.entry];
    if (rows.other < table->other_count && table->others[rows.other].entry == rows.entry) {
        answer.kind = RP_ROW_OTHER;
        answer.other = table->others[rows.other].event;
        return answer;
    }
    answer.position = table->order[rows.message];
    return answer;
}

static struct rp_answer next_of_queue(const struct queue *queue)
{
    const struct rp_row *row = queue ? &queue->rows[queue->at] : NULL;

    if (!row)
        return (struct rp_answer){0};
    return (struct rp_answer){row->kind, row->with_next, row->other, true,
                              row->rank, row->clock,     row->index, 0};
}

struct rp_answer rp_cdc_replay_rows_next(const struct rp_call *call)
{
    const struct rp_cdc_table *table = front_table();

    return table ? next_of_table(table) : next_of_queue(queue_of(call));
}

/* NULL: it has none. */
static const struct rp_row *next_message(struct queue *queue)
{
    queue->message = queue->message > queue->at ? queue->message : queue->at;
    while (queue->message < queue->count && queue->rows[queue->message].kind != RP_ROW_MESSAGE)
        queue->message++;
    return queue->message < queue->count ? &queue->rows[queue->message] : NULL;
}

/* Queues of several sites do not say which of them is next: it has this clock, or a larger one. */
static struct rp_answer smallest_of_queues(void)
{
    struct rp_answer found = {0};

    for (size_t i = 0; i < rp_log_site_table(rows.log)->site_count; i++) {
        const struct rp_row *row = next_message(&rows.queues[i]);
        if (row && (found.kind == 0 || row->clock < found.clock))
            found =
                (struct rp_answer){.kind = RP_ROW_MESSAGE, .is_named = true, .clock = row->clock};
    }
    return found;
}

struct rp_answer rp_cdc_replay_rows_next_message(void)
{
    const struct rp_cdc_table *table = front_table();

    if (!table)
        return smallest_of_queues();
    if (rows.message == table->message_count)
        return (struct rp_answer){0};
    return (struct rp_answer){.kind = RP_ROW_MESSAGE, .position = table->order[rows.message]};
}

int32_t rp_cdc_replay_rows_index(const struct rp_answer *answer, int32_t rank)
{
    const struct rp_cdc_table *table = answer->is_named ? NULL : &rows.chunk.cdc.tables[rows.table];

    if (!table)
        return answer->index;
    if (rows.index < table->index_count && table->indices[rows.index].message == rows.message)
        return table->indices[rows.index].index;
    return rp_indices_guess(&rows.guess, rank);
}

static void pass_message(const struct rp_cdc_table *table, int32_t rank)
{
    struct rp_answer here = {0};
    int32_t index = rp_cdc_replay_rows_index(&here, rank);

    rp_indices_tell(&rows.guess, rank, index);
    if (rows.index < table->index_count && table->indices[rows.index].message == rows.message)
        rows.index++;
    rows.message++;
}

static void pass_in_table(const struct rp_cdc_table *table, int32_t rank)
{
    struct rp_answer answer = next_of_table(table);

    if (answer.kind == RP_ROW_UNMATCHED) {
        if (++rows.polls == table->unmatched[rows.unmatched].count) {
            rows.polls = 0;
            rows.unmatched++;
            rows.done++;
        }
        return;
    }
    if (answer.kind == RP_ROW_OTHER)
        rows.other++;
    else
        pass_message(table, rank);
    rows.entry++;
    rows.done++;
}

static void pass_in_queue(struct queue *queue)
{
    const struct rp_row *row = &queue->rows[queue->at];

    if (row->kind == RP_ROW_UNMATCHED && ++queue->polls < row->count)
        return;
    queue->polls = 0;
    queue->at++;
    rows.done++;
}

void rp_cdc_replay_rows_pass(const struct rp_call *call, int32_t rank)
{
    const struct rp_cdc_table *table = front_table();
    struct queue *queue = table ? NULL : queue_of(call);

    if (table)
        pass_in_table(table, rank);
    else if (queue)
        pass_in_queue(queue);
}

uint64_t rp_cdc_replay_rows_done(void)
{
    return rows.done;
}

uint64_t rp_cdc_replay_rows_total(void)
{
    return rows.total;
}

bool rp_cdc_replay_rows_are_done(void)
{
    if (front_table())
        return false;
    while (load_chunk())
        ;
    for (size_t i = 0; i < rp_log_site_table(rows.log)->site_count; i++)
        if (rows.queues[i].at < rows.queues[i].count)
            return false;
    return true;
}

void rp_cdc_replay_rows_describe(const struct rp_call *call, struct rp_buffer *out)
{
    struct rp_answer answer = rp_cdc_replay_rows_next(call);
    struct rp_naming *naming = rp_naming_open(rows.sites.wrappers);
    uint32_t site = rp_site_find(&rows.sites, call->function, call->return_address, call->stack);

    rp_buffer_printf(out, "  recorded: ");
    if (answer.kind == RP_ROW_UNMATCHED)
        rp_buffer_printf(out, "a poll that answered no\n");
    else if (answer.kind == RP_ROW_OTHER)
        rp_buffer_printf(out, "%s scope=%u a=%d b=%d c=%llu\n", rp_event_name(answer.other.kind),
                         answer.other.scope, answer.other.any.a, answer.other.any.b,
                         (unsigned long long)answer.other.any.c);
    else if (answer.kind == RP_ROW_MESSAGE && answer.is_named)
        rp_buffer_printf(out, "the message of rank %d with clock %llu\n", answer.rank,
                         (unsigned long long)answer.clock);
    else if (answer.kind == RP_ROW_MESSAGE)
        rp_buffer_printf(out, "a message, number %u by clock of table %llu\n", answer.position,
                         (unsigned long long)rows.number);
    else
        rp_buffer_printf(out, "nothing more%s\n",
                         recorded_site(call) == UINT32_MAX ? ", this place never" : "");
    rp_buffer_printf(out, "  here: %s\n", call->function);
    rp_naming_learn(naming, rp_log_site_table(rows.log));
    rp_naming_learn(naming, &rows.sites);
    rp_naming_print_site(naming, &rows.sites, site, "    ", out);
    rp_naming_close(naming);
}
