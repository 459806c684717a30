/* SPDX-License-Identifier: MIT */
/*
 * Runs that have no record to look at while they go on (`det`, `ft`, and the current run of
 * `stress`). For each, a small file in the directory of records, `running-PID`, describes the run
 * to `reprise status`. The run removes it at its end; a file that was left behind is known by its
 * process, which no longer exists.
 */
#ifndef RP_RUNNING_H
#define RP_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_running {
    char *kind;      /* "det", "ft", "stress" */
    char *command;   /* as a shell takes it */
    char *progress;  /* in words; may be empty */
    char *directory; /* of its results; may be empty */
    char *record;    /* the record that it is writing; may be empty */
    char *state; /* path of the file in which its ranks publish what they do (log/replaystate.h);
                    may be empty */
    char
        *roll; /* the directory with the roll of its processes (job/job_progress.h); may be empty */
    int process;
    int64_t ranks;   /* of ft: as far as known */
    int64_t seconds; /* since it began */
};

/* Writes the file for this command, which begins such a run. Best effort: if the file cannot be
 * written, `reprise status` does not show the run. */
void rp_running_begin(const char *kind, char **command, const char *directory);

/* Returns the path of the file in which the ranks are to publish what they do; NULL: none. */
const char *rp_running_state(void);

/* Publish how far the run is: a line of text, the record and the state file of its present part; or
 * the roll of its processes and the number of its ranks. */
void rp_running_publish(const char *progress, const char *record, const char *state);
void rp_running_publish_roll(const char *roll, int64_t ranks);

void rp_running_end(void);

/* All that go on, of the directory of records that is meant here. */
struct rp_running *rp_running_list(size_t *count);
void rp_running_clear(struct rp_running *run);
void rp_running_free(struct rp_running *list, size_t count);

#endif
