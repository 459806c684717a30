/* SPDX-License-Identifier: MIT */
#include "compound/persistent.h"

#include <pthread.h>

#include "compound/compound_start.h"
#include "preload/constants.h"
#include "preload/requests.h"

unsigned rp_persistents_known;

enum { ACTIVE = RP_REQUEST_PERSISTENT | RP_REQUEST_RECEIVE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static struct rp_requests table;

static void prepare(void)
{
    rp_compound_prepare();
    rp_requests_init(&table);
}

bool rp_persistent_is_wanted(void)
{
    static int is_wanted = -1;

    if (is_wanted < 0)
        is_wanted = rp_library_symbol("MPI_Request_get_status_any") != NULL;
    return is_wanted;
}

int rp_persistent_made(int rc, const MPI_Request *request)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (rc != MPI_SUCCESS)
        return rc;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    struct rp_request *entry = rp_requests_entry(&table, *request);
    if (!entry->flags)
        __atomic_add_fetch(&rp_persistents_known, 1, __ATOMIC_RELAXED);
    entry->flags = RP_REQUEST_PERSISTENT;
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Sets the flags of those that are persistent. With the lock. */
static void set_flags(MPI_Request request, uint64_t flags)
{
    struct rp_request *entry = rp_requests_find(&table, request);

    if (entry && entry->flags)
        entry->flags = flags;
}

void rp_persistent_started(int count, const MPI_Request *requests)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        set_flags(requests[i], ACTIVE);
    pthread_mutex_unlock(&lock);
}

/* Of a call for all: after an error, some may be pending still. */
static bool is_pending(const struct rp_completion *c, int rc, int i)
{
    return rc != MPI_SUCCESS && c->form == RP_COMPLETE_ALL && !rp_completion_ignores(c) &&
           c->statuses[i].MPI_ERROR == MPI_ERR_PENDING;
}

/* How many of its requests the call completed, or perhaps did. */
static int completed_count(const struct rp_completion *c)
{
    if (c->form == RP_COMPLETE_SOME)
        return *c->outcount == MPI_UNDEFINED ? 0 : *c->outcount;
    if (c->flag && !*c->flag)
        return 0;
    if (c->form == RP_COMPLETE_ANY)
        return *c->index != MPI_UNDEFINED;
    return c->count;
}

static int completed_index(const struct rp_completion *c, int i)
{
    if (c->form == RP_COMPLETE_SOME)
        return c->indices[i];
    return c->form == RP_COMPLETE_ANY ? *c->index : i;
}

int rp_persistent_completed(const struct rp_completion *c, int rc)
{
    pthread_mutex_lock(&lock);
    for (int i = 0, count = completed_count(c); i < count; i++)
        if (!is_pending(c, rc, i))
            set_flags(c->requests[completed_index(c, i)], RP_REQUEST_PERSISTENT);
    pthread_mutex_unlock(&lock);
    return rc;
}

void rp_persistent_freed(MPI_Request request)
{
    if (RP_NO_PERSISTENTS)
        return;
    pthread_mutex_lock(&lock);
    struct rp_request *entry = rp_requests_find(&table, request);
    if (entry && entry->flags) {
        entry->flags = 0;
        __atomic_sub_fetch(&rp_persistents_known, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}

bool rp_request_is_active(MPI_Request request)
{
    if (request == rp_constant.request_null)
        return false;
    if (RP_NO_PERSISTENTS)
        return true;
    pthread_mutex_lock(&lock);
    struct rp_request *entry = rp_requests_find(&table, request);
    bool is_active = !entry || entry->flags != RP_REQUEST_PERSISTENT;
    pthread_mutex_unlock(&lock);
    return is_active;
}
