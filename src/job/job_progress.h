/* SPDX-License-Identifier: MIT */
/*
 * A file in the directory of the run, by which the command that started a job knows how far each
 * process is. Each process writes one line of it.
 *
 * The file has a gate, which decides whether any process has left MPI_Init. The first process that
 * leaves MPI_Init opens the gate. The command may close it before that. Then no process leaves
 * MPI_Init any more, and the command can start the job again, since nothing was computed.
 */
#ifndef RP_PROCESS_H
#define RP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rp_process_state {
    RP_PROCESS_UNSEEN,
    RP_PROCESS_BEGAN,
    RP_PROCESS_ENTERS,
    RP_PROCESS_INSIDE
}; /* not started; loaded our library; entered MPI_Init; left MPI_Init */

/* How a process ended: it runs or was killed; it exited by itself; or it got SIGTERM, which
 * launchers send to all processes when one has failed. */
enum rp_process_end { RP_PROCESS_NO_WORD, RP_PROCESS_LEFT, RP_PROCESS_TERMINATED };

struct rp_process_progress {
    _Atomic int32_t state, process;
    _Atomic int32_t left;      /* enum rp_process_end */
    _Atomic int32_t rank;      /* its rank + 1; 0: it is a spare, or its rank is not known yet */
    _Atomic int64_t iteration; /* the iteration that it is in, + 1; 0: in none yet */
};

/* Makes the file in `directory` with `lines` lines, and returns line 0. Returns NULL on failure.
 * The mapping is never released. */
struct rp_process_progress *rp_job_progress_make(const char *directory, size_t lines);

/* Maps the whole file for reading: returns its first line, and sets *lines to their number. Returns
 * NULL if there is no file. The mapping is never released. */
const struct rp_process_progress *rp_job_progress_look(const char *directory, size_t *lines);

/* Returns line `line` of the file, for the process that writes it. Returns NULL if there is none.
 * The mapping is never released. */
struct rp_process_progress *rp_job_progress_open(const char *directory, size_t line);

/* From now on, a SIGTERM is written into `line`, the line of the calling process, unless the
 * program handles the signal itself. rp_job_progress_let_term, which is called after MPI_Init, ends
 * this. */
void rp_job_progress_note_term(struct rp_process_progress *line);
void rp_job_progress_let_term(void);

/* These open or close the gate of the file of `line`, which is line `number`. They return whether
 * the gate is open, or closed, afterwards; once decided, it never changes. */
bool rp_job_progress_open_gate(struct rp_process_progress *line, size_t number);
bool rp_job_progress_close_gate(struct rp_process_progress *line, size_t number);
bool rp_job_progress_gate_is_open(const struct rp_process_progress *line, size_t number);

#endif
