/* SPDX-License-Identifier: MIT */
/* Receives and probes, blocking or persistent: what a wildcard took or saw. Where several threads
 * call, a blocking probe is made of polls, and the lock is free between them. */
#include "engine/return_codes.h"
#include "engine/record_calls.h"
#include "engine/record_data.h"
#include "entry/comms.h"
#include "preload/constants.h"
#include "entry/request_notes.h"
#include "entry/threads.h"

void rp_record_error(const struct rp_call *call, uint32_t scope, int rc)
{
    rp_record_event(RP_ERROR, rp_record_site(call), scope, rp_return_code_class(rc), 0, 0);
}

static bool give_way(unsigned *tries)
{
    rp_threads_give_way(tries);
    return true;
}

static int real_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                      MPI_Status *seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Probe(source, tag, comm, seen);
    do {
        rp_record_data_waits(true);
        rc = call->next->Iprobe(source, tag, comm, &flag, seen);
        rp_record_data_waits(false);
    } while (rc == MPI_SUCCESS && !flag && give_way(&tries));
    return rc;
}

static int real_mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                       MPI_Message *message, MPI_Status *seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Mprobe(source, tag, comm, message, seen);
    do {
        rp_record_data_waits(true);
        rc = call->next->Improbe(source, tag, comm, &flag, message, seen);
        rp_record_data_waits(false);
    } while (rc == MPI_SUCCESS && !flag && give_way(&tries));
    return rc;
}

/* With threads, a probe that names its message has an event, which says whose turn it was. */
static bool has_event(int source, int tag)
{
    return RP_IS_WILD(source, tag) || rp_threads_on;
}

static inline void push_envelope(uint32_t kind, const struct rp_call *call, MPI_Comm comm,
                                 const MPI_Status *status, int rc)
{
    if (__builtin_expect(rp_return_code_matched(rc), 1))
        rp_record_event(kind, rp_record_site(call), rp_comms_number(comm), status->MPI_SOURCE,
                        status->MPI_TAG, 0);
    else
        rp_record_error(call, 0, rc);
}

/* A blocking receive is younger than all that are under way. */
static __attribute__((noinline)) void push_older_than_now(const struct rp_call *call,
                                                          const MPI_Status *status)
{
    rp_record_push_older(UINT64_MAX, status, rp_record_site(call));
    rp_record_publish();
}

void rp_record_received_other(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                              const MPI_Status *status, int rc)
{
    if (rp_thread_state.always & RP_SLOW_FREED)
        rp_record_poll_freed(rp_record_site(call));
    bool kept = source == MPI_ANY_SOURCE && !rp_state.watched && rp_return_code_matched(rc) &&
                rp_record_region_put(rp_record_site(call), rp_comms_number(comm),
                                     status->MPI_SOURCE, status->MPI_TAG);
    if (!kept && RP_IS_WILD(source, tag))
        push_envelope(RP_RECV, call, comm, status, rc);
    if (rp_state.watched && rp_return_code_matched(rc) && source != MPI_PROC_NULL)
        push_older_than_now(call, status);
}

static __attribute__((noinline)) void received_slow(const char *function, uintptr_t return_address,
                                                    uintptr_t stack, MPI_Comm comm,
                                                    const MPI_Status *status, int rc)
{
    struct rp_call call = {function, NULL, return_address, stack};

    rp_record_received_other(&call, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status, rc);
}

void rp_record_received(const char *function, uintptr_t return_address, uintptr_t stack,
                        MPI_Comm comm, const MPI_Status *status, int rc)
{
    uint32_t site;

    if (__builtin_expect(rc != MPI_SUCCESS || rp_state.watched || comm != rp_comms.last ||
                             !rp_record_is_ready(1) ||
                             !rp_site_known(&rp_recorder.sites, function, return_address, stack,
                                            &site),
                         0)) {
        received_slow(function, return_address, stack, comm, status, rc);
        return;
    }
    rp_record_put(RP_RECV, site, rp_comms.last_number, status->MPI_SOURCE, status->MPI_TAG, 0);
    rp_record_publish();
}

void rp_record_persistent_begin(const struct rp_call *call, struct rp_envelope *e,
                                const struct rp_buffer_args *b)
{
    (void)call;
    (void)e;
    (void)b;
    rp_thread_state.depth++;
}

void rp_record_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                              MPI_Request *request)
{
    (void)call;
    rp_record_end();
    if (rc != MPI_SUCCESS)
        return;
    bool wild = RP_IS_WILD(e->source, e->tag);
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    rp_requests_forget(entry);
    entry->flags = RP_REQUEST_PERSISTENT | (wild ? RP_REQUEST_WILD : 0);
    rp_state.persistent++;
}

static void started(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (!entry || !(entry->flags & RP_REQUEST_PERSISTENT))
        return;
    if (entry->flags & RP_REQUEST_COUNTED)
        rp_record_unwatch(entry); /* its last completion was not seen */
    uint64_t lasting = entry->flags & (RP_REQUEST_PERSISTENT | RP_REQUEST_WILD);
    if (lasting & RP_REQUEST_WILD) {
        entry->post = rp_state.posts++;
        entry->flags = lasting | RP_REQUEST_USUAL;
        rp_requests_list(entry, MPI_ANY_SOURCE, MPI_ANY_TAG);
    } else if (rp_state.watched) {
        rp_record_watch(entry, lasting | RP_REQUEST_RECEIVE, rp_state.posts++);
    } else {
        entry->post = rp_state.posts++;
        entry->flags = lasting | RP_REQUEST_RECEIVE;
    }
}

int rp_record_Start(const struct rp_call *call, MPI_Request *request)
{
    rp_thread_state.depth++;
    int rc = call->next->Start(request);
    rp_record_end();
    if (rc == MPI_SUCCESS)
        started(*request);
    return rc;
}

int rp_record_Startall(const struct rp_call *call, int count, MPI_Request *requests)
{
    rp_thread_state.depth++;
    int rc = call->next->Startall(count, requests);
    rp_record_end();
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        started(requests[i]);
    return rc;
}

/* A message was seen: older receives that could have taken it were matched before. */
static inline void probed(const struct rp_call *call, bool wild, MPI_Comm comm,
                          const MPI_Status *status, int rc)
{
    if (wild)
        push_envelope(RP_PROBE, call, comm, status, rc);
    if (rp_state.watched && rc == MPI_SUCCESS && status->MPI_SOURCE != MPI_PROC_NULL)
        push_older_than_now(call, status);
}

int rp_record_Probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                    MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    rp_record_begin(call);
    int rc = real_probe(call, source, tag, comm, seen);

    probed(call, has_event(source, tag), comm, seen, rc);
    rp_record_end();
    return rc;
}

int rp_record_Mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                     MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    rp_record_begin(call);
    int rc = real_mprobe(call, source, tag, comm, message, seen);

    probed(call, has_event(source, tag), comm, seen, rc);
    rp_record_end();
    return rc;
}

static inline void push_probed(const struct rp_call *call, MPI_Comm comm, int found,
                               const MPI_Status *status, int rc)
{
    if (rc != MPI_SUCCESS || found)
        probed(call, true, comm, status, rc);
    else
        rp_record_no(call, rp_comms_number(comm));
}

int rp_record_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                     MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    rp_record_begin(call);
    int rc = call->next->Iprobe(source, tag, comm, flag, seen);

    push_probed(call, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    rp_record_end();
    return rc;
}

static __attribute__((noinline)) int iprobe_slow(const struct rp_origin *origin,
                                                 uintptr_t return_address, uintptr_t stack,
                                                 MPI_Comm comm, const int *flag,
                                                 const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    push_probed(&call, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    return rc;
}

int rp_fast_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status,
                   const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = origin->next->Iprobe(source, tag, comm, flag, seen);
    uint32_t site;

    if (rc == MPI_SUCCESS && comm == rp_comms.last) {
        if (!*flag && rp_record_no_again(origin->function, rp_comms.last_number))
            return rc;
        if (*flag && !rp_state.watched && rp_record_is_usual(origin, RP_PLACE, 1, &site)) {
            rp_record_put(RP_PROBE, site, rp_comms.last_number, seen->MPI_SOURCE, seen->MPI_TAG, 0);
            rp_record_publish();
            return rc;
        }
    }
    return iprobe_slow(origin, RP_PLACE, comm, flag, seen, rc);
}

int rp_record_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    rp_record_begin(call);
    int rc = call->next->Improbe(source, tag, comm, flag, message, seen);

    push_probed(call, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    rp_record_end();
    return rc;
}
