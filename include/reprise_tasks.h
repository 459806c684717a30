/* SPDX-License-Identifier: MIT */
/*
 * Message-driven tasks over MPI. Tasks live in indexed collections, many to a process; a message
 * runs an entry function of the task that it is sent to. Every entry says how much of its order
 * matters, so that a run can be recorded and replayed, and survives dead processes, with no more
 * than the determinants that this order needs (docs/tasks.md).
 *
 *   MPI_Init; reprise_tasks_begin; reprise_collection...; then, as often as wanted: reprise_start,
 * reprise_tasks_run; reprise_tasks_end; MPI_Finalize
 *
 * Functions of the first group below are called by all processes in the same order, outside
 * entries.
 */
#ifndef REPRISE_TASKS_H
#define REPRISE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct reprise_index {
    int x, y, z;
};

struct reprise_message {
    uint64_t ref; /* a number that the sender chose: a step, say */
    const void *data;
    size_t bytes;
};

enum reprise_order {
    REPRISE_ORDERED =
        1, /* the program itself orders its messages, by `ready` or by how they are sent */
    REPRISE_ORDER_DEPENDENT, /* messages come in any order, and it matters: each needs a determinant
                              */
    REPRISE_COMMUTATIVE      /* `count` messages in any order lead to the same state */
};

struct reprise_entry {
    const char *name;
    enum reprise_order order;
    void (*run)(void *state, const struct reprise_message *message);
    /* Whether a message can be taken now, else it waits; NULL: always. It says yes only where the
     * program waits for just that message, also if the message could not have come before: a task
     * that is restored after a failure finds messages that answer what it has yet to send again. */
    bool (*ready)(const void *state, uint64_t ref);
    /* Of a commutative region, how many messages it has, asked when the first is taken; at least 1.
     * Of order-dependent messages, if it is known (else NULL): where a collection has no other
     * entry, the last of them needs no determinant. Messages of the next region come only when this
     * one is complete, or `ready` holds them back. */
    size_t (*count)(const void *state);
    void (*finish)(void *state); /* the end of a commutative region, after its last message; NULL:
                                    nothing. What follows from all of it must be done here */
};

struct reprise_collection_spec {
    const char *name;
    struct reprise_index size; /* 0 counts as 1 */
    size_t state_bytes; /* the state of a task is one block without pointers: it may move to another
                           process */
    const struct reprise_entry *entries; /* ended by one without a name */
    void (*make)(void *state,
                 struct reprise_index
                     index); /* of zeros; NULL: nothing. The same on whichever process it runs */
    int (*map)(struct reprise_index index,
               int processes); /* the process of a task; NULL: blocks of equal length */
};

enum reprise_operation { REPRISE_SUM = 1, REPRISE_MIN, REPRISE_MAX };

/* Of all processes, outside entries. */
void reprise_tasks_begin(void);
int reprise_collection(const struct reprise_collection_spec *spec);
/* A reduction of `width` numbers of each task of a collection, combined in the order of their
 * indices. Every task contributes once with each ref, which are 0, 1, 2 and so on. Results go to
 * the entry of all tasks of the collection, with the ref of the contributions; or, -1, to
 * reprise_result. */
int reprise_reduction(int collection, int width, enum reprise_operation operation, int entry);
/* Puts a message for every task of a collection. */
void reprise_start(int collection, int entry, uint64_t ref, const void *data, size_t bytes);
/* Runs entries until no message is left anywhere. With fault tolerance, a checkpoint is then
 * taken. */
void reprise_tasks_run(void);
/* Moves the tasks of a collection to other processes, before reprise_start puts messages for
 * them. */
void reprise_remap(int collection, int (*map)(struct reprise_index index, int processes));
/* The newest result of a reduction without an entry, and its ref. False: there is none. */
bool reprise_result(int reduction, uint64_t *ref, double *values);
/* Ends it; the exit status is 0, or says what went wrong (reprise.h). */
int reprise_tasks_end(void);

/* Of one process, outside entries. */
int reprise_process(void);
int reprise_processes(void);
/* Of the living. Also after reprise_tasks_end, where it is best asked by who prints a result: a
 * first one that dies before is replaced until then. */
bool reprise_is_first(void);
/* The state of a task, to be read; NULL if it is on another process. */
const void *reprise_task_state(int collection, struct reprise_index index);

/* Inside entries. */
struct reprise_index reprise_self(void);
void reprise_send(int collection, struct reprise_index to, int entry, uint64_t ref,
                  const void *data, size_t bytes);
void reprise_broadcast(int collection, int entry, uint64_t ref, const void *data, size_t bytes);
void reprise_contribute(int reduction, uint64_t ref, const double *values);

#ifdef __cplusplus
}
#endif

#endif
