/* SPDX-License-Identifier: MIT */
/*
 * What the workloads made of tasks share. Each declares its collections, runs in pieces, and
 * reduces what it computed: the first living process compares it with a serial computation and
 * prints the result line. A sum of hashes is passed as two doubles of 26 bits a task, so that it is
 * exact.
 */
#ifndef TASKAPP_H
#define TASKAPP_H

#include "../app.h"
#include "reprise_tasks.h"

enum {
    TASKAPP_WIDTH = 3
}; /* of the result: two halves of the hash, and a number of the workload */

/* The result of one task. */
void taskapp_contribute(int reduction, uint64_t ref, const void *state, size_t bytes,
                        double number);
uint64_t taskapp_hash(const void *bytes, size_t length);

/* What taskapp_contribute adds up to, serially. */
struct taskapp_sum {
    double values[TASKAPP_WIDTH];
};

void taskapp_add(struct taskapp_sum *sum, const void *state, size_t bytes, double number);

/* Ends tasks and MPI, and prints; `serial`, which may be NULL, computes what is expected. Returns
 * the exit status. */
int taskapp_result(struct app *app, int reduction, struct taskapp_sum (*serial)(void),
                   const char *unit);

#endif
