/* SPDX-License-Identifier: MIT */
/*
 * The order in which the tasks of one process took their messages in a replay, and a digest of the
 * result. Replays write and follow one such file for each process; `reprise replay --shuffle`
 * compares them and removes them at its end.
 */
#ifndef RP_TASK_TRACE_FILE_H
#define RP_TASK_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

enum { RP_TAKEN_ELSEWHERE = -1 }; /* an entry: by another process */

struct rp_taken {
    uint64_t message; /* a digest of its name */
    int32_t entry;
};

struct rp_taken_list {
    struct rp_taken *list;
    size_t count, room;
};

void rp_taken_add(struct rp_taken_list *taken, uint64_t message, int32_t entry);

struct rp_tasktrace_collection {
    char *name;
    uint32_t first, count; /* its tasks */
    uint32_t entries;
    char **names;
    bool *commutes;
};

struct rp_tasktrace {
    uint64_t result; /* of several processes: their sum */
    struct rp_tasktrace_collection *collections;
    uint32_t collection_count;
    struct rp_taken_list *tasks; /* what each task took, in order */
    uint32_t task_count;
};

char *rp_tasktrace_path(const char *directory, int process);

/* A file, made by its writer: the collections, and for each task that it had what that took, from
 * its `before`-th event on. */
void rp_tasktrace_begin(struct rp_buffer *out, uint64_t result, uint32_t collections);
void rp_tasktrace_put_collection(struct rp_buffer *out, const char *name, uint32_t first,
                                 uint32_t count, uint32_t entries);
void rp_tasktrace_put_entry(struct rp_buffer *out, const char *name, bool commutes);
void rp_tasktrace_put_task(struct rp_buffer *out, uint32_t task, uint64_t before,
                           const struct rp_taken_list *taken);
void rp_tasktrace_end(struct rp_buffer *out);

/* Reads the files of `processes` processes into one trace. The caller frees *out by
 * rp_tasktrace_free, also after a failure. */
enum rp_status rp_tasktrace_read(const char *directory, int processes, struct rp_tasktrace *out,
                                 struct rp_problem *why);
void rp_tasktrace_free(struct rp_tasktrace *trace);

#endif
