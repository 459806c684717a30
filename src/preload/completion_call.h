/* SPDX-License-Identifier: MIT */
/* The real call of a function of the families of MPI_Wait and MPI_Test. */
#ifndef RP_COMPLETION_CALL_H
#define RP_COMPLETION_CALL_H

#include "next.h"
#include "preload/completion.h"

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

/* Returns the same call as a test, for a wait that is made of polls. The test writes its flag to
 * *flag, which must outlive the returned value. */
static inline struct rp_completion rp_completion_as_test(const struct rp_completion *c, int *flag)
{
    struct rp_completion test = *c;

    if (!c->tests && c->form != RP_COMPLETE_SOME)
        test.flag = flag;
    test.tests = true;
    return test;
}

/* Sets the outputs of a test to those of one that completed nothing. */
static inline void rp_completion_put_no(const struct rp_completion *c)
{
    if (c->flag)
        *c->flag = 0;
    if (c->index)
        *c->index = MPI_UNDEFINED;
    if (c->outcount)
        *c->outcount = 0;
}

#endif
