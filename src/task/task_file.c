/* SPDX-License-Identifier: MIT */
/*
 * The record of a run of tasks: a file for each process, with the determinants of the tasks that ended there and the digests that were made there (docs/format.md, section 11). It is written when the run ends. A replay reads the files of all processes, since
 * its tasks may be elsewhere at first, and takes the determinants of a task from wherever they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "task/task.h"

static const char magic[8] = "RPTASKS\n";
enum { VERSION = 1, HEAD = 8 + 4 * 4 };

static void put_task(const struct rp_tasks *tasks, uint32_t number, struct rp_buffer *out)
{
    const struct rp_task *task = &tasks->tasks[number];
    bool is_here = task->owner == tasks->self && task->state;
    size_t skipped = task->has_first ? 1 : 0; /* the first, which needs none */

    if (!is_here && task->digest_count == 0 && task->made.count == 0)
        return;
    rp_buffer_varint(out, number + UINT64_C(1));
    rp_buffer_byte(out, (uint8_t)(is_here | task->has_first << 1));
    rp_buffer_u64(out, is_here ? task->end_digest : 0);
    rp_buffer_varint(out, task->made.count - skipped);
    for (size_t i = skipped; i < task->made.count; i++)
        rp_put_determinant(out, &task->made.list[i]);
    rp_buffer_varint(out, task->digest_count);
    for (size_t i = 0; i < task->digest_count; i++) {
        rp_buffer_varint(out, task->digests[i].entry);
        rp_buffer_varint(out, task->digests[i].ordinal);
        rp_buffer_u64(out, task->digests[i].digest);
    }
}

enum rp_status rp_task_file_make(const struct rp_tasks *tasks, struct rp_buffer *out, struct rp_problem *why)
{
    rp_buffer_put(out, magic, sizeof magic);
    rp_buffer_u32(out, VERSION);
    rp_buffer_u32(out, (uint32_t)tasks->self);
    rp_buffer_u32(out, (uint32_t)tasks->processes);
    rp_buffer_u32(out, tasks->task_count);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        put_task(tasks, i, out);
    rp_buffer_varint(out, 0);
    if (!out->failed)
        rp_buffer_u32(out, rp_crc32c(out->bytes, out->length));
    return out->failed ? rp_fail(why, RP_MEMORY, "no memory for the record") : RP_OK;
}

static char *path_of(const struct rp_tasks *tasks, int process)
{
    char name[32];

    snprintf(name, sizeof name, "tasks-%05d", process);
    return rp_path_join(tasks->directory, name);
}

enum rp_status rp_task_file_write(struct rp_tasks *tasks, struct rp_problem *why)
{
    struct rp_buffer out = {0};
    char *path = path_of(tasks, tasks->self);
    enum rp_status status = path ? rp_task_file_make(tasks, &out, why) : rp_fail(why, RP_MEMORY, "no memory for a path");

    if (status == RP_OK)
        status = rp_write_new_file(path, out.bytes, out.length, why);
    rp_buffer_free(&out);
    free(path);
    return status;
}

static bool get_digests(struct rp_task *task, struct rp_view *in, uint32_t entries)
{
    uint64_t count = rp_view_varint(in);

    if (in->failed || count > (uint64_t)(in->end - in->at) / 10)
        return false;
    if (count == 0)
        return true;
    task->digests = realloc(task->digests, (task->digest_count + count) * sizeof *task->digests);
    if (!task->digests)
        return false;
    for (; count > 0; count--) {
        struct rp_task_digest *digest = &task->digests[task->digest_count++];
        uint64_t entry = rp_view_varint(in), ordinal = rp_view_varint(in);
        *digest = (struct rp_task_digest){(uint32_t)entry, (uint32_t)ordinal, rp_view_u64(in)};
        if (in->failed || entry >= entries || ordinal > UINT32_MAX)
            return false;
    }
    return true;
}

static bool get_task(struct rp_tasks *tasks, uint64_t number, struct rp_view *in)
{
    struct rp_determinant one;

    if (number > tasks->task_count)
        return false;
    struct rp_task *task = &tasks->tasks[number - 1];
    uint8_t flags = rp_view_byte(in);
    uint64_t digest = rp_view_u64(in), count = rp_view_varint(in), last = 0;
    if (in->failed || flags > 3 || (count > 0 && task->known.count > 0))
        return false;
    for (uint64_t i = 0; i < count; i++, last = one.place) {
        if (!rp_get_determinant(in, &one) || one.task != number - 1 || (i > 0 && one.place <= last))
            return false;
        rp_determinants_add(&task->known, &one);
    }
    if (flags & 1) {
        task->has_end = true;
        task->end_digest = digest;
    }
    if (flags & 2)
        task->first_free = task->place == 0;
    return get_digests(task, in, tasks->collections[task->collection].entries);
}

enum rp_status rp_task_file_parse(struct rp_tasks *tasks, const uint8_t *bytes, size_t length, struct rp_problem *why)
{
    if (length < HEAD + 5 || memcmp(bytes, magic, sizeof magic) != 0)
        return rp_fail(why, RP_DAMAGED, "it is no record of tasks");
    if (rp_load_u32(bytes + 8) != VERSION)
        return rp_fail(why, RP_UNSUPPORTED, "it is of version %u, not %u", rp_load_u32(bytes + 8), VERSION);
    if (rp_load_u32(bytes + length - 4) != rp_crc32c(bytes, length - 4))
        return rp_fail(why, RP_DAMAGED, "its checksum is wrong");
    if (rp_load_u32(bytes + 16) != (uint32_t)tasks->processes || rp_load_u32(bytes + 20) != tasks->task_count)
        return rp_fail(why, RP_USAGE, "it is of a run with %u tasks on %u processes, and this one has %u on %d", rp_load_u32(bytes + 20), rp_load_u32(bytes + 16), tasks->task_count, tasks->processes);
    struct rp_view in = rp_view_of(bytes + HEAD, length - HEAD - 4);
    for (uint64_t number; (number = rp_view_varint(&in)) > 0;)
        if (!get_task(tasks, number, &in))
            return rp_fail(why, RP_DAMAGED, "what it says of task %" PRIu64 " makes no sense", number - 1);
    return in.failed || in.at != in.end ? rp_fail(why, RP_DAMAGED, "it ends too early or too late") : RP_OK;
}

enum rp_status rp_task_file_read(struct rp_tasks *tasks, struct rp_problem *why)
{
    enum { LIMIT = 1 << 30 };
    enum rp_status status = RP_OK;

    for (int i = 0; i < tasks->processes && status == RP_OK; i++) {
        struct rp_buffer in = {0};
        struct rp_problem because;
        char *path = path_of(tasks, i);
        status = path ? rp_read_file(path, LIMIT, &in, why) : rp_fail(why, RP_MEMORY, "no memory for a path");
        if (status == RP_OK && (status = rp_task_file_parse(tasks, in.bytes, in.length, &because)) != RP_OK)
            rp_fail(why, status, "%s: %s", path, because.text);
        rp_buffer_free(&in);
        free(path);
    }
    return status;
}
