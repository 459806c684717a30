/* SPDX-License-Identifier: MIT */
/*
 * MPI_Wait, MPI_Test and their families (the matching functions of the papers) as one call. The
 * generated entries of the eight functions fill in a struct rp_completion; each library has one
 * function that handles it, and makes the real call by rp_completion_call.
 */
#ifndef RP_COMPLETION_H
#define RP_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>

#include "next.h"

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

/* Whether the program wants no statuses. */
static inline bool rp_completion_ignores(const struct rp_completion *c)
{
    return c->form == RP_COMPLETE_ONE || c->form == RP_COMPLETE_ANY
               ? c->statuses == MPI_STATUS_IGNORE
               : c->statuses == MPI_STATUSES_IGNORE;
}

/* Whether all requests must complete before the call says yes: of MPI_Wait, MPI_Waitall, MPI_Test
 * and MPI_Testall. */
static inline bool rp_completion_is_about_all(const struct rp_completion *c)
{
    return c->form == RP_COMPLETE_ONE || c->form == RP_COMPLETE_ALL;
}

/* Whether it is MPI_Wait or MPI_Waitall: MPI leaves nothing open of them. */
static inline bool rp_completion_waits_for_all(const struct rp_completion *c)
{
    return !c->tests && rp_completion_is_about_all(c);
}

/* How many statuses the call may write. */
static inline int rp_completion_statuses(const struct rp_completion *c)
{
    return c->form == RP_COMPLETE_ANY ? 1 : c->count;
}

/* Makes the call. Returns what MPI returns. */
static inline int rp_completion_call(const struct rp_next *next, const struct rp_completion *c)
{
    switch (c->form) {
    case RP_COMPLETE_ONE:
        return c->tests ? next->Test(c->requests, c->flag, c->statuses)
                        : next->Wait(c->requests, c->statuses);
    case RP_COMPLETE_ALL:
        return c->tests ? next->Testall(c->count, c->requests, c->flag, c->statuses)
                        : next->Waitall(c->count, c->requests, c->statuses);
    case RP_COMPLETE_ANY:
        return c->tests ? next->Testany(c->count, c->requests, c->index, c->flag, c->statuses)
                        : next->Waitany(c->count, c->requests, c->index, c->statuses);
    default:
        return (c->tests ? next->Testsome : next->Waitsome)(c->count, c->requests, c->outcount,
                                                            c->indices, c->statuses);
    }
}

/* The same call as a test, for a wait that is made of polls. `flag` is for its answer; it must
 * outlive what is returned. */
static inline struct rp_completion rp_completion_as_test(const struct rp_completion *c, int *flag)
{
    struct rp_completion test = *c;

    if (!c->tests && c->form != RP_COMPLETE_SOME)
        test.flag = flag;
    test.tests = true;
    return test;
}

/* Answers a test with no. */
static inline void rp_completion_put_no(const struct rp_completion *c)
{
    if (c->flag)
        *c->flag = 0;
    if (c->index)
        *c->index = MPI_UNDEFINED;
    if (c->outcount)
        *c->outcount = 0;
}

/* Of a call that succeeded: whether it completed something, or found nothing to complete. */
static inline bool rp_completion_said_yes(const struct rp_completion *c)
{
    return !c->tests || (c->flag ? *c->flag != 0 : *c->outcount != 0);
}

#endif
