/* SPDX-License-Identifier: MIT */
/*
 * MPI_Request_get_status is asked twice where it says yes. If the second answer is another one, the
 * status is lost: it is kept, by the request's handle, until a function completes the request,
 * starts it or frees it. Those functions take our detour only from the first lost status on.
 */
#include "preload/lost_status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "next.h"
#include "preload/completion_call.h"
#include "preload/family.h"
#include "preload/requests.h"

struct kept {
    MPI_Status status;
    int rc;
};

static struct rp_requests kept; /* `note` is a struct kept */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_lost; /* a status was, once */

static struct rp_request *find(MPI_Request request)
{
    return kept.slots ? rp_requests_find(&kept, request) : NULL;
}

static bool look_up(MPI_Request request, struct kept *found)
{
    pthread_mutex_lock(&lock);
    struct rp_request *entry = find(request);
    bool has = entry && entry->flags;
    if (has)
        *found = *(struct kept *)entry->note;
    pthread_mutex_unlock(&lock);
    return has;
}

static void drop(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    struct rp_request *entry = find(request);
    if (entry && entry->flags) {
        free(entry->note);
        entry->note = NULL;
        entry->flags = 0;
    }
    pthread_mutex_unlock(&lock);
}

static void keep(MPI_Request request, const MPI_Status *status, int rc)
{
    struct kept *note = malloc(sizeof *note);

    if (!note)
        rp_bug(__FILE__, __LINE__, "out of memory for statuses");
    *note = (struct kept){.status = *status, .rc = rc};
    pthread_mutex_lock(&lock);
    if (!kept.slots)
        rp_requests_init(&kept);
    struct rp_request *entry = rp_requests_entry(&kept, request);
    free(entry->flags ? entry->note : NULL);
    entry->note = note;
    entry->flags = RP_REQUEST_PERSISTENT;
    pthread_mutex_unlock(&lock);
}

/* All but MPI_ERROR, which only functions with several statuses set. */
static void copy_status(MPI_Status *to, const MPI_Status *from)
{
    if (to == MPI_STATUS_IGNORE)
        return;
    int error = to->MPI_ERROR;
    *to = *from;
    to->MPI_ERROR = error;
}

static bool are_equal(const MPI_Status *a, const MPI_Status *b)
{
    MPI_Status x = *a, y = *b;

    x.MPI_ERROR = y.MPI_ERROR = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

static void take_detours(void);

static int get_status(const struct rp_next *next, MPI_Request request, int *flag,
                      MPI_Status *status)
{
    MPI_Status first, second;
    struct kept found;
    int again = 0;

    if (is_lost && look_up(request, &found)) {
        *flag = 1;
        copy_status(status, &found.status);
        return found.rc;
    }
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    int rc = next->Request_get_status(request, flag, &first);
    if (rc == MPI_SUCCESS && !*flag)
        return rc;
    copy_status(status, &first);
    if (next->Request_get_status(request, &again, &second) == MPI_SUCCESS && again &&
        (rc != MPI_SUCCESS || !are_equal(&first, &second))) {
        keep(request, &first, rc);
        take_detours();
    }
    return rc;
}

/* Completion */

/* Makes a request that completed inactive, and gives its status back. Returns what the call is to
 * return. */
static int give_one(const struct rp_next *next, MPI_Request *request, MPI_Status *status)
{
    struct kept found = {.rc = MPI_SUCCESS};

    if (!look_up(*request, &found))
        return MPI_SUCCESS;
    drop(*request);
    next->Wait(request, MPI_STATUS_IGNORE);
    copy_status(status, &found.status);
    return found.rc;
}

static int give_all(const struct rp_next *next, const struct rp_completion *c)
{
    bool ignores = rp_completion_ignores(c);
    int rc = MPI_SUCCESS;

    for (int i = 0; i < c->count; i++) {
        MPI_Status *status = ignores ? MPI_STATUS_IGNORE : &c->statuses[i];
        int one = give_one(next, &c->requests[i], status);
        if (one == MPI_SUCCESS)
            continue;
        for (int k = 0; !ignores && rc == MPI_SUCCESS && k < c->count; k++)
            c->statuses[k].MPI_ERROR = MPI_SUCCESS;
        if (!ignores)
            status->MPI_ERROR = one;
        rc = MPI_ERR_IN_STATUS;
    }
    return rc;
}

/* Returns the first request from `from` on whose status is kept, or the count. */
static int first_kept(const struct rp_completion *c, int from)
{
    struct kept found;

    while (from < c->count && !look_up(c->requests[from], &found))
        from++;
    return from;
}

/* MPI takes a request whose status it has lost for an inactive one. */
static int give_any(const struct rp_next *next, const struct rp_completion *c, int kept_index)
{
    if (c->flag)
        *c->flag = 1;
    *c->index = kept_index;
    return give_one(next, &c->requests[kept_index], c->statuses);
}

/* MPI_Test of a request that is not inactive. Returns what MPI_ERROR is to say. */
static int test_active(const struct rp_next *next, MPI_Request *request, int *done,
                       MPI_Status *status)
{
    int count = 0, index = 0;
    MPI_Status found = {.MPI_ERROR = MPI_SUCCESS};
    int rc = next->Testsome(1, request, &count, &index, &found);

    *done = count == 1;
    if (*done)
        copy_status(status, &found);
    return rc == MPI_ERR_IN_STATUS ? found.MPI_ERROR : rc;
}

/* Whatever else is complete by now completes, too, in the order of the indices. */
static int give_some(const struct rp_next *next, const struct rp_completion *c, int kept_index)
{
    bool ignores = rp_completion_ignores(c);
    int count = 0, failed = MPI_SUCCESS;

    for (int i = 0; i < c->count; i++) {
        MPI_Status *status = ignores ? MPI_STATUS_IGNORE : &c->statuses[count];
        int rc = MPI_SUCCESS, done = 1, is_kept = i == kept_index;
        if (is_kept) {
            rc = give_one(next, &c->requests[i], status);
            kept_index = first_kept(c, i + 1);
        } else {
            rc = test_active(next, &c->requests[i], &done, status);
        }
        if (!done)
            continue;
        if (!ignores)
            status->MPI_ERROR = rc;
        failed = rc != MPI_SUCCESS ? MPI_ERR_IN_STATUS : failed;
        c->indices[count++] = i;
    }
    *c->outcount = count;
    return failed;
}

static int complete(const struct rp_next *next, const struct rp_completion *c)
{
    bool is_about_all = rp_completion_is_about_all(c);
    int kept_index = is_about_all ? c->count : first_kept(c, 0);

    if (kept_index < c->count)
        return c->form == RP_COMPLETE_ANY ? give_any(next, c, kept_index)
                                          : give_some(next, c, kept_index);
    int rc = rp_completion_call(next, c);
    if (rc != MPI_SUCCESS || !is_about_all || !rp_completion_said_yes(c))
        return rc;
    return c->form == RP_COMPLETE_ONE ? give_one(next, c->requests, c->statuses)
                                      : give_all(next, c);
}

/* The detours, one set for each table: `names` is mpi or pmpi, `table` the real functions. */
#define COMPLETES(names, table, member, parameters, which, is_test, ...)                           \
    static int names##_##member parameters                                                         \
    {                                                                                              \
        return complete(table, &(const struct rp_completion){.form = which,                        \
                                                             .tests = is_test,                     \
                                                             .requests = requests,                 \
                                                             .statuses = statuses,                 \
                                                             __VA_ARGS__});                        \
    }
#define DETOURS(names, table)                                                                      \
    static int names##_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)      \
    {                                                                                              \
        return get_status(table, request, flag, status);                                           \
    }                                                                                              \
    COMPLETES(names, table, Wait, (MPI_Request * requests, MPI_Status * statuses),                 \
              RP_COMPLETE_ONE, false, .count = 1)                                                  \
    COMPLETES(names, table, Waitall, (int count, MPI_Request *requests, MPI_Status *statuses),     \
              RP_COMPLETE_ALL, false, .count = count)                                              \
    COMPLETES(names, table, Waitany,                                                               \
              (int count, MPI_Request *requests, int *index, MPI_Status *statuses),                \
              RP_COMPLETE_ANY, false, .count = count, .index = index)                              \
    COMPLETES(names, table, Waitsome,                                                              \
              (int count, MPI_Request *requests, int *outcount, int *indices,                      \
               MPI_Status *statuses),                                                              \
              RP_COMPLETE_SOME, false, .count = count, .outcount = outcount, .indices = indices)   \
    COMPLETES(names, table, Test, (MPI_Request * requests, int *flag, MPI_Status *statuses),       \
              RP_COMPLETE_ONE, true, .count = 1, .flag = flag)                                     \
    COMPLETES(names, table, Testall,                                                               \
              (int count, MPI_Request *requests, int *flag, MPI_Status *statuses),                 \
              RP_COMPLETE_ALL, true, .count = count, .flag = flag)                                 \
    COMPLETES(names, table, Testany,                                                               \
              (int count, MPI_Request *requests, int *index, int *flag, MPI_Status *statuses),     \
              RP_COMPLETE_ANY, true, .count = count, .index = index, .flag = flag)                 \
    COMPLETES(names, table, Testsome,                                                              \
              (int count, MPI_Request *requests, int *outcount, int *indices,                      \
               MPI_Status *statuses),                                                              \
              RP_COMPLETE_SOME, true, .count = count, .outcount = outcount, .indices = indices)    \
    static int names##_Start(MPI_Request *request)                                                 \
    {                                                                                              \
        drop(*request);                                                                            \
        return (table)->Start(request);                                                            \
    }                                                                                              \
    static int names##_Startall(int count, MPI_Request *requests)                                  \
    {                                                                                              \
        for (int i = 0; i < count; i++)                                                            \
            drop(requests[i]);                                                                     \
        return (table)->Startall(count, requests);                                                 \
    }                                                                                              \
    static int names##_Request_free(MPI_Request *request)                                          \
    {                                                                                              \
        drop(*request);                                                                            \
        return (table)->Request_free(request);                                                     \
    }                                                                                              \
    static void names##_take_detours(void)                                                         \
    {                                                                                              \
        rp_##names.Wait = names##_Wait;                                                            \
        rp_##names.Waitall = names##_Waitall;                                                      \
        rp_##names.Waitany = names##_Waitany;                                                      \
        rp_##names.Waitsome = names##_Waitsome;                                                    \
        rp_##names.Test = names##_Test;                                                            \
        rp_##names.Testall = names##_Testall;                                                      \
        rp_##names.Testany = names##_Testany;                                                      \
        rp_##names.Testsome = names##_Testsome;                                                    \
        rp_##names.Start = names##_Start;                                                          \
        rp_##names.Startall = names##_Startall;                                                    \
        rp_##names.Request_free = names##_Request_free;                                            \
    }                                                                                              \
    static void names##_mend(void)                                                                 \
    {                                                                                              \
        if (rp_##names.Request_get_status == names##_Request_get_status)                           \
            return;                                                                                \
        *(table) = rp_##names;                                                                     \
        rp_##names.Request_get_status = names##_Request_get_status;                                \
    }

static struct rp_next real_mpi, real_pmpi; /* what the tables held before */
DETOURS(mpi, &real_mpi)
DETOURS(pmpi, &real_pmpi)

static void take_detours(void)
{
    if (is_lost)
        return;
    mpi_take_detours();
    pmpi_take_detours();
    is_lost = true;
}

void rp_lost_status_mend(void)
{
    if (rp_is_openmpi())
        return;
    mpi_mend();
    pmpi_mend();
    if (is_lost) {
        mpi_take_detours();
        pmpi_take_detours();
    }
}
