/* SPDX-License-Identifier: MIT */
/*
 * The end of the job when it cannot go on. One process ends it and says why: a launcher that
 * several call may never end. The others find the file `ending` in the directory of the run, and
 * leave. The command takes the job's status from that file.
 */
#ifndef RP_FT_ABORT_H
#define RP_FT_ABORT_H

#include <stddef.h>

/* Prints the message, ends the job with `status`, by MPI_Abort, and does not return. If another
 * process ends the job already, this one prints nothing and leaves. */
void rp_ft_die(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Ends the job with `status`, without a message. */
void rp_ft_end(int status) __attribute__((noreturn));

/* Does what rp_ft_die does, but without MPI_Abort: threads of ours use it while the program's
 * thread is inside MPI, and the start uses it before there is MPI. */
void rp_ft_give_up(int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Leaves if another process ends the job; else returns. */
void rp_ft_end_if_ending(void);

/* Writes the file `ending` for the command: `died` (such as "rank 3") died in MPI_Init, before any
 * process was out of it. The command starts the job again, or ends it. Does not return. */
void rp_ft_end_in_init(const char *died) __attribute__((noreturn));

/* Returns zeroed memory of that size, which the caller frees. Ends the job if there is none. */
void *rp_ft_alloc(size_t bytes);

#endif
