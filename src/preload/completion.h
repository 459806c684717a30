/* SPDX-License-Identifier: MIT */
/*
 * MPI_Wait, MPI_Test and their families (the matching functions of Clock Delta Compression) as one
 * call. The generated entries of the eight functions fill in a struct rp_completion; each library
 * has one function that handles it, and makes the real call by rp_completion_call
 * (completion_call.h).
 */
#ifndef RP_COMPLETION_H
#define RP_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>

enum rp_completion_form {
    RP_COMPLETE_ONE,  /* MPI_Wait, MPI_Test */
    RP_COMPLETE_ALL,  /* MPI_Waitall, MPI_Testall */
    RP_COMPLETE_ANY,  /* MPI_Waitany, MPI_Testany */
    RP_COMPLETE_SOME, /* MPI_Waitsome, MPI_Testsome */
};

/* The arguments of one call, as the program passed them. */
struct rp_completion {
    const char *function; /* "MPI_Wait" */
    enum rp_completion_form form;
    bool tests; /* MPI_Test...: it does not wait */
    int count;  /* of requests; 1 for MPI_Wait and MPI_Test */
    MPI_Request *requests;
    int *flag;            /* MPI_Test, MPI_Testall, MPI_Testany; else NULL */
    int *index;           /* ANY; else NULL */
    int *outcount;        /* SOME; else NULL */
    int *indices;         /* SOME; else NULL */
    MPI_Status *statuses; /* one for ONE and ANY; perhaps one of MPI's values to ignore them */
};

/* Returns whether the program passed MPI's value to ignore statuses. */
static inline bool rp_completion_ignores(const struct rp_completion *c)
{
    return c->form == RP_COMPLETE_ONE || c->form == RP_COMPLETE_ANY
               ? c->statuses == MPI_STATUS_IGNORE
               : c->statuses == MPI_STATUSES_IGNORE;
}

/* Returns whether the call completes only when all its requests do: MPI_Wait, MPI_Waitall, MPI_Test
 * and MPI_Testall. */
static inline bool rp_completion_is_about_all(const struct rp_completion *c)
{
    return c->form == RP_COMPLETE_ONE || c->form == RP_COMPLETE_ALL;
}

/* Returns whether the call is MPI_Wait or MPI_Waitall: their outcome is never non-deterministic. */
static inline bool rp_completion_waits_for_all(const struct rp_completion *c)
{
    return !c->tests && rp_completion_is_about_all(c);
}

/* Returns how many statuses the call may write. */
static inline int rp_completion_statuses(const struct rp_completion *c)
{
    return c->form == RP_COMPLETE_ANY ? 1 : c->count;
}

/* For a call that succeeded: returns whether it completed something, or found nothing to complete.
 */
static inline bool rp_completion_said_yes(const struct rp_completion *c)
{
    return !c->tests || (c->flag ? *c->flag != 0 : *c->outcount != 0);
}

#endif
