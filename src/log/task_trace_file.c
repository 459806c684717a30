/* SPDX-License-Identifier: MIT */
#include "log/task_trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/diagnostics.h"

void rp_taken_add(struct rp_taken_list *taken, uint64_t message, int32_t entry)
{
    if (taken->count == taken->room) {
        taken->room = taken->room ? 2 * taken->room : 64;
        taken->list = realloc(taken->list, taken->room * sizeof *taken->list);
        RP_BUG_ON(!taken->list);
    }
    taken->list[taken->count++] = (struct rp_taken){message, entry};
}

char *rp_tasktrace_path(const char *directory, int process)
{
    char name[40];

    snprintf(name, sizeof name, "trace-%05d", process);
    return rp_path_join(directory, name);
}

void rp_tasktrace_begin(struct rp_buffer *out, uint64_t result, uint32_t collections)
{
    rp_buffer_u64(out, result);
    rp_buffer_varint(out, collections);
}

void rp_tasktrace_put_collection(struct rp_buffer *out, const char *name, uint32_t first,
                                 uint32_t count, uint32_t entries)
{
    rp_buffer_string(out, name, strlen(name));
    rp_buffer_varint(out, first);
    rp_buffer_varint(out, count);
    rp_buffer_varint(out, entries);
}

void rp_tasktrace_put_entry(struct rp_buffer *out, const char *name, bool commutes)
{
    rp_buffer_string(out, name, strlen(name));
    rp_buffer_byte(out, commutes);
}

void rp_tasktrace_put_task(struct rp_buffer *out, uint32_t task, uint64_t before,
                           const struct rp_taken_list *taken)
{
    rp_buffer_varint(out, task + UINT64_C(1));
    rp_buffer_varint(out, before);
    rp_buffer_varint(out, taken->count);
    for (size_t i = 0; i < taken->count; i++) {
        rp_buffer_u64(out, taken->list[i].message);
        rp_buffer_svarint(out, taken->list[i].entry);
    }
}

void rp_tasktrace_end(struct rp_buffer *out)
{
    rp_buffer_varint(out, 0);
}

static char *get_name(struct rp_view *in)
{
    size_t length;
    const uint8_t *bytes = rp_view_string(in, &length);

    return in->failed ? NULL : strndup((const char *)bytes, length);
}

static void *zeros(uint64_t count, size_t each)
{
    void *memory = count < UINT32_MAX ? calloc((size_t)count + 1, each) : NULL;

    RP_BUG_ON(!memory);
    return memory;
}

/* All processes have the same collections: those of the first are kept. */
static void get_collections(struct rp_view *in, struct rp_tasktrace *out)
{
    uint32_t count = (uint32_t)rp_view_varint(in);
    struct rp_tasktrace_collection *all = zeros(in->failed ? 0 : count, sizeof *all);

    out->collections = all;
    out->collection_count = in->failed ? 0 : count;
    for (uint32_t i = 0; i < out->collection_count; i++) {
        all[i].name = get_name(in);
        all[i].first = (uint32_t)rp_view_varint(in);
        all[i].count = (uint32_t)rp_view_varint(in);
        all[i].entries = in->failed ? 0 : (uint32_t)rp_view_varint(in);
        all[i].names = zeros(all[i].entries, sizeof *all[i].names);
        all[i].commutes = zeros(all[i].entries, sizeof *all[i].commutes);
        for (uint32_t k = 0; k < all[i].entries; k++) {
            all[i].names[k] = get_name(in);
            all[i].commutes[k] = rp_view_byte(in);
        }
        out->task_count = all[i].first + all[i].count > out->task_count
                              ? all[i].first + all[i].count
                              : out->task_count;
    }
}

static void free_collections(struct rp_tasktrace *trace)
{
    for (uint32_t i = 0; i < trace->collection_count; i++) {
        for (uint32_t k = 0; k < trace->collections[i].entries; k++)
            free(trace->collections[i].names[k]);
        free(trace->collections[i].names);
        free(trace->collections[i].commutes);
        free(trace->collections[i].name);
    }
    free(trace->collections);
}

/* Events of a task that moved are in several files; each begins where another ended. */
static void put_at(struct rp_taken_list *taken, uint64_t place, uint64_t message, int32_t entry)
{
    while (taken->count <= place)
        rp_taken_add(taken, 0, RP_TAKEN_ELSEWHERE);
    if (entry != RP_TAKEN_ELSEWHERE)
        taken->list[place] = (struct rp_taken){message, entry};
}

static bool get_tasks(struct rp_view *in, struct rp_tasktrace *out)
{
    for (uint64_t number; (number = rp_view_varint(in)) > 0 && !in->failed;) {
        uint64_t before = rp_view_varint(in), count = rp_view_varint(in);
        if (in->failed || number > out->task_count || before > UINT32_MAX || count > UINT32_MAX)
            return false;
        for (uint64_t i = 0; i < count && !in->failed; i++) {
            uint64_t message = rp_view_u64(in);
            put_at(&out->tasks[number - 1], before + i, message, (int32_t)rp_view_svarint(in));
        }
    }
    return !in->failed;
}

static enum rp_status read_one(const char *path, bool is_first, struct rp_tasktrace *out,
                               struct rp_problem *why)
{
    struct rp_buffer bytes = {0};
    struct rp_tasktrace same = {0};
    enum rp_status status = rp_read_file(path, SIZE_MAX / 2, &bytes, why);

    if (status == RP_OK) {
        struct rp_view in = rp_view_of(bytes.bytes, bytes.length);
        out->result += rp_view_u64(&in);
        get_collections(&in, is_first ? out : &same);
        if (is_first)
            out->tasks = zeros(out->task_count, sizeof *out->tasks);
        if (!get_tasks(&in, out))
            status = rp_fail(why, RP_DAMAGED, "%s: it is not what was written", path);
    }
    free_collections(&same);
    rp_buffer_free(&bytes);
    return status;
}

enum rp_status rp_tasktrace_read(const char *directory, int processes, struct rp_tasktrace *out,
                                 struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    *out = (struct rp_tasktrace){0};
    for (int i = 0; i < processes && status == RP_OK; i++) {
        char *path = rp_tasktrace_path(directory, i);
        status = path ? read_one(path, i == 0, out, why) : rp_fail(why, RP_MEMORY, "out of memory");
        free(path);
    }
    return status;
}

void rp_tasktrace_free(struct rp_tasktrace *trace)
{
    for (uint32_t i = 0; i < trace->task_count && trace->tasks; i++)
        free(trace->tasks[i].list);
    free(trace->tasks);
    free_collections(trace);
    *trace = (struct rp_tasktrace){0};
}
