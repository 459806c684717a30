/* SPDX-License-Identifier: MIT */
/*
 * Message-driven tasks over MPI. Tasks live in indexed collections, many to a process. A message
 * runs an entry of the task that it is sent to. Each entry declares how much of its order matters.
 * So a record, and fault tolerance, need only the determinants of that order (docs/tasks.md).
 *
 * A program calls MPI_Init, reprise_tasks_begin and reprise_collection (once or more); then, as
 * often as it likes, reprise_start and reprise_tasks_run; then reprise_tasks_end and MPI_Finalize.
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
    uint64_t ref; /* a number that the sender chooses, such as a step */
    const void *data;
    size_t bytes;
};

enum reprise_order {
    /* The program itself orders the messages, by `ready` or by the way it sends them. */
    REPRISE_ORDERED = 1,
    /* Messages come in any order, and the order matters: each needs a determinant. */
    REPRISE_ORDER_DEPENDENT,
    /* `count` messages lead to the same state in any order. */
    REPRISE_COMMUTATIVE
};

struct reprise_entry {
    const char *name;
    enum reprise_order order;
    void (*run)(void *state, const struct reprise_message *message);
    /* Returns whether the task can take a message with this ref now; else the message waits. NULL
     * means always. It must return true only if the program waits for just that message. A task
     * that is restored after a failure may find answers to messages that it has yet to send. */
    bool (*ready)(const void *state, uint64_t ref);
    /* Returns the number of messages of a commutative region, at least 1. It is called when the
     * task takes the first message. Messages of the next region come only when this region is
     * complete, or `ready` holds them back. An order-dependent entry may have it if the number of
     * its messages is known, else NULL. Then, if the collection has no other entry, the last
     * message needs no determinant. */
    size_t (*count)(const void *state);
    /* Called at the end of a commutative region, after its last message; NULL for nothing. Do here
     * what depends on all messages of the region. */
    void (*finish)(void *state);
};

struct reprise_collection_spec {
    const char *name;
    struct reprise_index size; /* 0 counts as 1 */
    /* The state of a task is one block without pointers, since it may move to another process. */
    size_t state_bytes;
    const struct reprise_entry *entries; /* the last one has no name */
    /* Initialises a state of zeros, in the same way on any process. NULL leaves the zeros. */
    void (*make)(void *state, struct reprise_index index);
    /* Returns the process of a task. NULL means blocks of equal length. */
    int (*map)(struct reprise_index index, int processes);
};

enum reprise_operation { REPRISE_SUM = 1, REPRISE_MIN, REPRISE_MAX };

/* All processes call these functions in the same order, outside entries. */

/* Begins message-driven tasks, after MPI_Init. */
void reprise_tasks_begin(void);

/* Makes a collection. Returns its number, for the functions below. */
int reprise_collection(const struct reprise_collection_spec *spec);

/* Makes a reduction of `width` numbers of each task of a collection, and returns its number. It
 * combines them in the order of the indices of the tasks. Every task contributes once with each of
 * the refs 0, 1, 2 and so on. The result goes to `entry` of all tasks of the collection, with the
 * ref of the contributions. With entry -1, reprise_result returns it. */
int reprise_reduction(int collection, int width, enum reprise_operation operation, int entry);

/* Puts a message for every task of a collection. The function copies the data. */
void reprise_start(int collection, int entry, uint64_t ref, const void *data, size_t bytes);

/* Runs entries until no message is left anywhere. With fault tolerance, it then takes a
 * checkpoint. */
void reprise_tasks_run(void);

/* Moves the tasks of a collection to other processes. Call it before reprise_start puts messages
 * for them. */
void reprise_remap(int collection, int (*map)(struct reprise_index index, int processes));

/* Gets the newest result of a reduction without an entry, and its ref. Returns false if there is
 * no result yet. */
bool reprise_result(int reduction, uint64_t *ref, double *values);

/* Ends the tasks. Returns the exit status: 0, or one of those in reprise.h. */
int reprise_tasks_end(void);

/* Any process calls these functions, outside entries. */

/* Return the number of this process, and the number of processes. */
int reprise_process(void);
int reprise_processes(void);

/* Returns whether this is the first of the living processes. To print a result, call it after
 * reprise_tasks_end: if the first process dies before, another one is first then. */
bool reprise_is_first(void);

/* Returns the state of a task, for reading only, or NULL if the task is on another process. */
const void *reprise_task_state(int collection, struct reprise_index index);

/* Entries call these functions. Data is copied. */

/* Returns the index of the task that runs. */
struct reprise_index reprise_self(void);

/* Sends a message to an entry of one task, or of all tasks, of a collection. */
void reprise_send(int collection, struct reprise_index to, int entry, uint64_t ref,
                  const void *data, size_t bytes);
void reprise_broadcast(int collection, int entry, uint64_t ref, const void *data, size_t bytes);

/* Contributes `width` values of the task that runs to a reduction. */
void reprise_contribute(int reduction, uint64_t ref, const double *values);

#ifdef __cplusplus
}
#endif

#endif
