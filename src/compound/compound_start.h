/* SPDX-License-Identifier: MIT */
/* What all parts of the library need. */
#ifndef RP_COMPOUND_START_H
#define RP_COMPOUND_START_H

/* To be called before the first use of real functions and constants, behind MPI_Init. */
void rp_compound_prepare(void);

/* Ends the job: `function` is not supported for `what`. */
void rp_compound_refuse(const char *function, const char *what) __attribute__((noreturn));

#endif
