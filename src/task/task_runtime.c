/* SPDX-License-Identifier: MIT */
#include "task/task_runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"

struct rp_tasks *rp_tasks_now;

bool rp_tasks_has_log(const struct rp_tasks *tasks)
{
    return tasks->mode == RP_TASKS_PARTIAL || tasks->mode == RP_TASKS_FULL;
}

bool rp_tasks_survives(const struct rp_tasks *tasks)
{
    return tasks->mode >= RP_TASKS_PARTIAL;
}

int rp_tasks_first_living(const struct rp_tasks *tasks)
{
    int first = 0;

    while (first < tasks->processes - 1 && tasks->dead[first])
        first++;
    return first;
}

void *rp_task_memory(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "no memory for tasks");
    return memory;
}

void rp_tasks_fail(struct rp_tasks *tasks, const char *format, ...)
{
    char text[600];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tasks->has_failed = true;
    tasks->transport.fail(tasks->transport.data, text);
}

struct rp_parcel_head rp_tasks_head(const struct rp_tasks *tasks, enum rp_parcel_kind kind)
{
    return (
        struct rp_parcel_head){.kind = (uint8_t)kind, .epoch = tasks->epoch, .phase = tasks->phase};
}

void rp_tasks_send_parcel(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    if (parcel->bytes[0] <= RP_PARCEL_COUNTED)
        tasks->sent[process]++;
    tasks->transport.send(tasks->transport.data, process, parcel);
}

void rp_tasks_send_control(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                           const void *data, size_t length)
{
    struct rp_parcel_head full = *head;

    if (length > INT32_MAX - sizeof full) {
        rp_tasks_fail(tasks, "%zu bytes for process %d are more than a message of MPI holds",
                      length, process);
        return;
    }
    struct rp_parcel *parcel = rp_parcel_new(sizeof full + length);
    full.bytes = (uint32_t)length;
    memcpy(parcel->bytes, &full, sizeof full);
    if (length > 0)
        memcpy(parcel->bytes + sizeof full, data, length);
    rp_tasks_send_parcel(tasks, process, parcel);
}

void rp_tasks_send_buffer(struct rp_tasks *tasks, int process, struct rp_parcel_head head,
                          struct rp_buffer *buffer)
{
    RP_BUG_ON(buffer->failed);
    rp_tasks_send_control(tasks, process, &head, buffer->bytes, buffer->length);
    rp_buffer_free(buffer);
}
