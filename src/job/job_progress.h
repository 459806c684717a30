/* SPDX-License-Identifier: MIT */
/*
 * How far each process of a job has come: a file in the directory of the run, which the processes
 * write and the command that started them reads.
 *
 * Its gate decides whether any process left MPI_Init: the first that does opens it. The command may
 * close it before; then no process gets out any more, and the job can be started again, since
 * nothing was computed.
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
}; /* it entered MPI_Init, and came out of it */

/* How it ended: no word (it was killed, or runs), by itself, or by SIGTERM, which launchers send to
 * all when one has failed. */
enum rp_process_end { RP_PROCESS_NO_WORD, RP_PROCESS_LEFT, RP_PROCESS_TERMINATED };

struct rp_process_progress {
    _Atomic int32_t state, process;
    _Atomic int32_t left;      /* enum rp_process_end */
    _Atomic int32_t rank;      /* + 1; 0: it is a spare, or not known yet */
    _Atomic int64_t iteration; /* that it is in, + 1; 0: in none yet */
};

/* Makes it, with so many lines. Never given back; NULL: it cannot be had. */
struct rp_process_progress *rp_job_progress_make(const char *directory, size_t lines);

/* All of it, to be looked at; `lines` tells how many. Never given back; NULL: there is none. */
const struct rp_process_progress *rp_job_progress_look(const char *directory, size_t *lines);

/* One line of it, for the process that it is about. Never given back; NULL: there is none. */
struct rp_process_progress *rp_job_progress_open(const char *directory, size_t line);

/* Notes a SIGTERM in the calling process' line, unless the program handles that signal, until
 * rp_job_progress_let_term, after MPI_Init. */
void rp_job_progress_note_term(struct rp_process_progress *line);
void rp_job_progress_let_term(void);

/* Both are told a line and its number. True: the gate is open, or closed, now and for ever. */
bool rp_job_progress_open_gate(struct rp_process_progress *line, size_t number);
bool rp_job_progress_close_gate(struct rp_process_progress *line, size_t number);
bool rp_job_progress_gate_is_open(const struct rp_process_progress *line, size_t number);

#endif
