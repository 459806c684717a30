/* SPDX-License-Identifier: MIT */
/*
 * A process of a job whose ranks may die, and what the command that started the job sees of it
 * (job/job_progress.h).
 */
#ifndef RP_SURVIVOR_H
#define RP_SURVIVOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "job/job_progress.h"

extern struct rp_survivor {
    pid_t id;                             /* 0: this process is none */
    size_t number;                        /* by the launcher */
    struct rp_process_progress *progress; /* NULL: no command watches */
} rp_survivor;

/* This process is one: notes its id, and its number by Open MPI's launcher, which must have set
 * it. */
void rp_survivor_begin(void);

/* Whether it is this process, not one that it forked. */
bool rp_survivor_is_this(void);

/* Tells the command that watches, in this directory, how far this process is. */
void rp_survivor_watch(const char *directory, enum rp_process_state state);

/* How far the process is. With RP_PROCESS_INSIDE, SIGTERM ends it again as if it were not watched.
 */
void rp_survivor_note_state(enum rp_process_state state);

/* It comes out of MPI_Init. Does not return if the command wants to start the job again, and ends
 * it. */
void rp_survivor_leave_init(void);

/* It ends by itself. */
void rp_survivor_left(void);

/* A connection to a process that died is no reason to die as well; Open MPI leaves that to the
 * signal's handler. */
void rp_survivor_ignore_broken_pipes(void);

#endif
