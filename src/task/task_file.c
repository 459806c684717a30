/* SPDX-License-Identifier: MIT */
/*
 * The record of a run of tasks: a file for each process, with the determinants of the tasks that
 * ended there and the digests that were made there (docs/format.md, section 11). It is written when
 * the run ends. Until then there is a journal, in which determinants and digests stand as they were
 * made; it is what a crash leaves. It also has the determinant of a task's first event, which is
 * not needed if all of them are known.
 *
 * A replay reads the files of all processes, since its tasks may be elsewhere at first, and takes
 * the determinants of a task from wherever they are. Beyond the end of a journal, messages are
 * taken as they arrive.
 */
#include "task/task_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/crc32c.h"
#include "base/diagnostics.h"
#include "base/file.h"
#include "base/journal.h"
#include "log/task_header.h"

void rp_task_file_add_digest(struct rp_task *task, const struct rp_task_digest *found)
{
    RP_BUG_ON(!rp_array_grow((void **)&task->digests, task->digest_count, sizeof *task->digests));
    task->digests[task->digest_count++] = *found;
}

static void put_digest(struct rp_buffer *out, const struct rp_task_digest *digest)
{
    rp_buffer_varint(out, digest->entry);
    rp_buffer_varint(out, digest->ordinal);
    rp_buffer_u64(out, digest->digest);
}

static void put_task(const struct rp_tasks *tasks, uint32_t number, struct rp_buffer *out)
{
    const struct rp_task *task = &tasks->tasks[number];
    bool is_here = task->owner == tasks->self && task->state;
    size_t skipped = task->first_deferred ? 1 : 0; /* the first, which needs none */

    if (!is_here && task->digest_count == 0 && task->made.count == 0)
        return;
    rp_buffer_varint(out, number + UINT64_C(1));
    rp_buffer_byte(out, (uint8_t)(is_here | task->first_deferred << 1));
    rp_buffer_u64(out, is_here ? task->end_digest : 0);
    rp_buffer_varint(out, task->made.count - skipped);
    for (size_t i = skipped; i < task->made.count; i++)
        rp_determinant_put(out, &task->made.list[i]);
    rp_buffer_varint(out, task->digest_count);
    for (size_t i = 0; i < task->digest_count; i++)
        put_digest(out, &task->digests[i]);
}

static struct rp_task_header head_of(const struct rp_tasks *tasks)
{
    return (struct rp_task_header){(uint32_t)tasks->self, (uint32_t)tasks->processes,
                                   tasks->task_count};
}

enum rp_status rp_task_file_make(const struct rp_tasks *tasks, struct rp_buffer *out,
                                 struct rp_problem *why)
{
    struct rp_task_header head = head_of(tasks);

    rp_task_header_begin(out, &head);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        put_task(tasks, i, out);
    rp_buffer_varint(out, 0);
    if (!out->failed)
        rp_buffer_u32(out, rp_crc32c(out->bytes, out->length));
    return out->failed ? rp_fail(why, RP_MEMORY, "no memory for the record") : RP_OK;
}

static char *path_of(const struct rp_tasks *tasks, int process, const char *what)
{
    char name[40];

    snprintf(name, sizeof name, "tasks-%05d%s", process, what);
    return rp_path_join(tasks->directory, name);
}

/* The journal. Its first entry says of what it is, all others begin with their kind. */

enum { DETERMINANT = 1, DIGEST = 2 };

static void put_entry(struct rp_journal *journal, struct rp_buffer *entry)
{
    RP_BUG_ON(entry->failed);
    rp_journal_put(journal, entry->bytes, entry->length);
    rp_buffer_free(entry);
}

enum rp_status rp_task_file_begin(struct rp_tasks *tasks, struct rp_problem *why)
{
    struct rp_task_header head = head_of(tasks);
    struct rp_buffer entry = {0};
    char *path = path_of(tasks, tasks->self, ".journal");
    enum rp_status status = path ? rp_journal_create(path, &tasks->journal, why)
                                 : rp_fail(why, RP_MEMORY, "no memory for a path");

    free(path);
    if (status != RP_OK)
        return status;
    rp_task_header_put(&entry, &head);
    put_entry(tasks->journal, &entry);
    return RP_OK;
}

void rp_task_file_determinant(struct rp_tasks *tasks, const struct rp_determinant *one)
{
    struct rp_buffer entry = {0};

    if (!tasks->journal)
        return;
    rp_buffer_byte(&entry, DETERMINANT);
    rp_determinant_put(&entry, one);
    put_entry(tasks->journal, &entry);
}

void rp_task_file_put_digest(struct rp_tasks *tasks, uint32_t task,
                             const struct rp_task_digest *digest)
{
    struct rp_buffer entry = {0};

    if (!tasks->journal)
        return;
    rp_buffer_byte(&entry, DIGEST);
    rp_buffer_varint(&entry, task);
    put_digest(&entry, digest);
    put_entry(tasks->journal, &entry);
}

enum rp_status rp_task_file_write(struct rp_tasks *tasks, struct rp_problem *why)
{
    struct rp_buffer out = {0};
    char *path = path_of(tasks, tasks->self, "");
    enum rp_status status = path ? rp_task_file_make(tasks, &out, why)
                                 : rp_fail(why, RP_MEMORY, "no memory for a path");

    if (status == RP_OK)
        status = rp_write_new_file(path, out.bytes, out.length, why);
    if (tasks->journal)
        rp_journal_close(tasks->journal, status == RP_OK);
    tasks->journal = NULL;
    rp_buffer_free(&out);
    free(path);
    return status;
}

static bool get_digest(struct rp_task *task, struct rp_view *in, uint32_t entries)
{
    uint64_t entry = rp_view_varint(in), ordinal = rp_view_varint(in);
    struct rp_task_digest digest = {(uint32_t)entry, (uint32_t)ordinal, rp_view_u64(in), false};

    if (in->failed || entry >= entries || ordinal > UINT32_MAX)
        return false;
    rp_task_file_add_digest(task, &digest);
    return true;
}

static bool get_digests(struct rp_task *task, struct rp_view *in, uint32_t entries)
{
    uint64_t count = rp_view_varint(in);

    for (; count > 0 && !in->failed; count--)
        if (!get_digest(task, in, entries))
            return false;
    return !in->failed;
}

/* It may be in several files, if a task moved and some of the processes were cut off. */
static bool know(struct rp_task *task, const struct rp_determinant *one)
{
    if (one->place == 0)
        task->first_free = false;
    if (rp_determinants_insert(&task->known, one))
        return true;
    size_t at = task->known.count;
    while (task->known.list[at - 1].place != one->place)
        at--;
    return rp_message_id_same(&task->known.list[at - 1].id, &one->id);
}

static bool get_task(struct rp_tasks *tasks, uint64_t number, struct rp_view *in)
{
    struct rp_determinant one;

    if (number > tasks->task_count)
        return false;
    struct rp_task *task = &tasks->tasks[number - 1];
    uint8_t flags = rp_view_byte(in);
    uint64_t digest = rp_view_u64(in), count = rp_view_varint(in), last = 0;
    if (in->failed || flags > 3)
        return false;
    for (uint64_t i = 0; i < count; i++, last = one.place) {
        if (!rp_determinant_get(in, &one) || one.task != number - 1 ||
            (i > 0 && one.place <= last) || !know(task, &one))
            return false;
    }
    if (flags & 1) {
        task->has_end = true;
        task->end_digest = digest;
    }
    if (flags & 2)
        task->first_free =
            task->place == 0 && (task->known.count == 0 || task->known.list[0].place > 0);
    return get_digests(task, in, tasks->collections[task->collection].entries);
}

static enum rp_status check_head(const struct rp_tasks *tasks, const struct rp_task_header *head,
                                 struct rp_problem *why)
{
    if (head->processes != (uint32_t)tasks->processes || head->tasks != tasks->task_count)
        return rp_fail(why, RP_USAGE,
                       "it is of a run with %u tasks on %u processes, and this one has %u on %d",
                       head->tasks, head->processes, tasks->task_count, tasks->processes);
    return RP_OK;
}

static bool get_entry(struct rp_tasks *tasks, struct rp_view *in)
{
    struct rp_determinant one;
    uint8_t kind = rp_view_byte(in);

    if (kind == DETERMINANT) {
        if (!rp_determinant_get(in, &one) || one.task >= tasks->task_count)
            return false;
        return know(&tasks->tasks[one.task], &one);
    }
    uint64_t number = rp_view_varint(in);
    if (kind != DIGEST || number >= tasks->task_count)
        return false;
    struct rp_task *task = &tasks->tasks[number];
    return get_digest(task, in, tasks->collections[task->collection].entries);
}

static enum rp_status parse_journal(struct rp_tasks *tasks, const uint8_t *bytes, size_t length,
                                    struct rp_problem *why)
{
    struct rp_journal_view journal = rp_journal_view_of(bytes, length);
    struct rp_task_header head;
    enum rp_status status = rp_task_header_of_journal(&journal, &head, why);
    const uint8_t *entry;
    size_t size;

    if (status == RP_OK)
        status = check_head(tasks, &head, why);
    while (status == RP_OK && rp_journal_next(&journal, &entry, &size)) {
        struct rp_view in = rp_view_of(entry, size);
        if (!get_entry(tasks, &in) || in.failed || in.at != in.end)
            status =
                rp_fail(why, RP_DAMAGED, "entry %" PRIu64 " makes no sense", journal.number - 1);
    }
    tasks->is_cut_off = true;
    return status == RP_OK && journal.damaged
               ? rp_fail(why, RP_DAMAGED, "entry %" PRIu64 " is damaged", journal.number)
               : status;
}

enum rp_status rp_task_file_parse(struct rp_tasks *tasks, const uint8_t *bytes, size_t length,
                                  struct rp_problem *why)
{
    if (rp_journal_is(bytes, length))
        return parse_journal(tasks, bytes, length, why);
    struct rp_task_header head;
    struct rp_view in;
    enum rp_status status = rp_task_header_of_file(bytes, length, &head, &in, why);
    if (status == RP_OK)
        status = check_head(tasks, &head, why);
    if (status != RP_OK)
        return status;
    for (uint64_t number; (number = rp_view_varint(&in)) > 0;)
        if (!get_task(tasks, number, &in))
            return rp_fail(why, RP_DAMAGED, "what it says of task %" PRIu64 " makes no sense",
                           number - 1);
    return in.failed || in.at != in.end ? rp_fail(why, RP_DAMAGED, "it ends too early or too late")
                                        : RP_OK;
}

static bool is_there(const struct rp_tasks *tasks, int process, const char *what)
{
    char *path = path_of(tasks, process, what);
    bool found = path && access(path, F_OK) == 0;

    free(path);
    return found;
}

static enum rp_status read_one(struct rp_tasks *tasks, int process, const char *what,
                               struct rp_problem *why)
{
    enum { LIMIT = 1 << 30 };
    struct rp_buffer in = {0};
    struct rp_problem because;
    char *path = path_of(tasks, process, what);
    enum rp_status status = path ? rp_read_file(path, LIMIT, &in, why)
                                 : rp_fail(why, RP_MEMORY, "no memory for a path");

    bool is_blank = *what && rp_journal_is_blank(in.bytes, in.length); /* it had hardly begun */
    if (status == RP_OK && !is_blank &&
        (status = rp_task_file_parse(tasks, in.bytes, in.length, &because)) != RP_OK)
        rp_fail(why, status, "%s: %s", path, because.text);
    rp_buffer_free(&in);
    free(path);
    return status;
}

/* Of a run that was cut off, a process may have nothing: it had not begun. */
enum rp_status rp_task_file_read(struct rp_tasks *tasks, struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    for (int i = 0; i < tasks->processes; i++)
        tasks->is_cut_off |= is_there(tasks, i, ".journal");
    for (int i = 0; i < tasks->processes && status == RP_OK; i++) {
        bool is_whole = is_there(tasks, i, "");
        if (is_whole || !tasks->is_cut_off || is_there(tasks, i, ".journal"))
            status = read_one(tasks, i, is_whole || !tasks->is_cut_off ? "" : ".journal", why);
    }
    return status;
}
