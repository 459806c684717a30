/* SPDX-License-Identifier: MIT */
/*
 * How far each process of a job has come: a file in the directory of the run, which the processes
 * write and the command that started them reads.
 *
 * Its gate decides whether any process left MPI_Init: the first that does opens it. The command may
 * close it before; then no process gets out any more, and the job can be started again, since
 * nothing was computed.
 */
#ifndef RP_ROLL_H
#define RP_ROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rp_roll_state {
    RP_ROLL_UNSEEN,
    RP_ROLL_BEGAN,
    RP_ROLL_ENTERS,
    RP_ROLL_INSIDE
}; /* it entered MPI_Init, and came out of it */

/* How it ended: no word (it was killed, or runs), by itself, or by SIGTERM, which launchers send to
 * all when one has failed. */
enum rp_roll_end { RP_ROLL_NO_WORD, RP_ROLL_LEFT, RP_ROLL_TERMINATED };

struct rp_roll_line {
    _Atomic int32_t state, process;
    _Atomic int32_t left;      /* enum rp_roll_end */
    _Atomic int32_t rank;      /* + 1; 0: it is a spare, or not known yet */
    _Atomic int64_t iteration; /* that it is in, + 1; 0: in none yet */
};

/* Makes it, with so many lines. Never given back; NULL: it cannot be had. */
struct rp_roll_line *rp_roll_make(const char *directory, size_t lines);

/* All of it, to be looked at; `lines` tells how many. Never given back; NULL: there is none. */
const struct rp_roll_line *rp_roll_look(const char *directory, size_t *lines);

/* One line of it, for the process that it is about. Never given back; NULL: there is none. */
struct rp_roll_line *rp_roll_open(const char *directory, size_t line);

/* Notes a SIGTERM in the calling process' line, unless the program handles that signal, until
 * rp_roll_let_term, after MPI_Init. */
void rp_roll_note_term(struct rp_roll_line *line);
void rp_roll_let_term(void);

/* Both are told a line and its number. True: the gate is open, or closed, now and for ever. */
bool rp_roll_open_gate(struct rp_roll_line *line, size_t number);
bool rp_roll_close_gate(struct rp_roll_line *line, size_t number);
bool rp_roll_gate_is_open(const struct rp_roll_line *line, size_t number);

#endif
