/* SPDX-License-Identifier: MIT */
#include "taskapp.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { HALF = 26 };

uint64_t taskapp_hash(const void *bytes, size_t length)
{
    uint64_t hash = 0, word;

    for (size_t i = 0; i + sizeof word <= length; i += sizeof word) {
        memcpy(&word, (const char *)bytes + i, sizeof word);
        app_hash_add(&hash, word);
    }
    return hash;
}

static void make(const void *state, size_t bytes, double number, double values[TASKAPP_WIDTH])
{
    uint64_t hash = taskapp_hash(state, bytes), mask = (UINT64_C(1) << HALF) - 1;

    values[0] = (double)(hash & mask);
    values[1] = (double)(hash >> HALF & mask);
    values[2] = number;
}

void taskapp_contribute(int reduction, uint64_t ref, const void *state, size_t bytes, double number)
{
    double values[TASKAPP_WIDTH];

    make(state, bytes, number, values);
    reprise_contribute(reduction, ref, values);
}

void taskapp_add(struct taskapp_sum *sum, const void *state, size_t bytes, double number)
{
    double values[TASKAPP_WIDTH];

    make(state, bytes, number, values);
    for (int i = 0; i < TASKAPP_WIDTH; i++)
        sum->values[i] += values[i];
}

int taskapp_result(struct app *app, int reduction, struct taskapp_sum (*serial)(void),
                   const char *unit)
{
    struct taskapp_sum found = {{0, 0, 0}};
    bool has_result = reprise_result(reduction, NULL, found.values);
    int status = reprise_tasks_end();
    bool is_first =
        reprise_is_first(); /* behind the end: if the first one dies before, another prints */

    app_verify(app, has_result, "there is no result");
    if (is_first && has_result) {
        struct taskapp_sum expected = serial ? serial() : found;
        for (int i = 0; i < TASKAPP_WIDTH; i++)
            app_verify(app, found.values[i] == expected.values[i],
                       "part %d of the result is %.17g, serially %.17g", i, found.values[i],
                       expected.values[i]);
        printf("RESULT hash=%013" PRIx64 "%013" PRIx64 " app=%s seed=%" PRIu64
               " verified=%s %s=%.17g\n",
               (uint64_t)found.values[1], (uint64_t)found.values[0], app->spec->name, app->seed,
               app->failed ? "no"
               : serial    ? "yes"
                           : "not",
               unit, found.values[2]);
        fflush(stdout);
    }
    MPI_Finalize();
    return status ? status : app->failed;
}
