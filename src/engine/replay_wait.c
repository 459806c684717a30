/* SPDX-License-Identifier: MIT */
#include "engine/replay_wait.h"

#include <stdio.h>

#include "engine/return_codes.h"
#include "engine/replay_end.h"
#include "engine/replay_follow.h"
#include "engine/replay_patience.h"
#include "engine/replay_turns.h"
#include "engine/placeholder_requests.h"
#include "entry/comms.h"
#include "preload/constants.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "preload/yield.h"

static void describe_message(char *what, size_t size, int source, int tag, MPI_Comm comm)
{
    snprintf(what, size, "a message from rank %d with tag %d on communicator %u", source, tag,
             rp_comms_number(comm));
}

void rp_await_message(const struct rp_call *call, int source, int tag, MPI_Comm comm)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_MESSAGE};
    char what[96] = "";
    int flag = 0;

    while (rp_pmpi.Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
        if (!what[0] && rp_patience_is_long(&patience))
            describe_message(what, sizeof what, source, tag, comm);
        rp_patience_poll(&patience, call, what);
    }
    rp_patience_end(&patience);
}

#ifdef OPEN_MPI
void rp_await_receive(const struct rp_call *call, MPI_Request request, const struct rp_envelope *e)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_RECEIVE};
    char what[96] = "";
    int flag = 0;

    while (rp_pmpi.Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
        if (!what[0] && rp_patience_is_long(&patience))
            describe_message(what, sizeof what, e->source, e->tag, e->comm);
        rp_patience_poll(&patience, call, what);
    }
    rp_patience_end(&patience);
}
#endif

static enum rp_certainty certainty_of(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_RECEIVE ? RP_CERTAIN_RECEIVE : RP_CERTAIN_CALL;
}

static void describe_request(MPI_Request request, char *what, size_t size)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (entry && entry->flags & RP_REQUEST_RECEIVE)
        snprintf(what, size, "its receive number %llu", (unsigned long long)entry->post);
    else
        snprintf(what, size, "a request of its own (a send, or a collective)");
}

bool rp_makes_its_own_progress(MPI_Request request)
{
    struct rp_request *entry = rp_thread_state.always & RP_SLOW_CALLBACKS
                                   ? rp_requests_find(&rp_state.requests, request)
                                   : NULL;

    return rp_thread_state.always & RP_SLOW_CALLBACKS &&
           !(entry && entry->flags & RP_REQUEST_RECEIVE);
}

/* Polls on. Other threads must not find our error handler. */
static void rest(struct rp_patience *patience, const struct rp_call *call, const char *what)
{
    if (!rp_threads_on) {
        rp_patience_poll(patience, call, what);
        return;
    }
    rp_quiet_end();
    rp_patience_poll(patience, call, what);
    rp_quiet_begin();
}

void rp_await_request(const struct rp_call *call, MPI_Request request)
{
    MPI_Request real = rp_placeholder_real(request);
    struct rp_patience patience = {.certain = certainty_of(request)};
    char what[96] = "";
    int flag = 0;

    if (real == rp_constant.request_null || rp_makes_its_own_progress(request))
        return;
    rp_quiet_begin();
    while (rp_pmpi.Request_get_status(real, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
        if (!what[0] && rp_patience_is_long(&patience))
            describe_request(request, what, sizeof what);
        rest(&patience, call, what);
    }
    rp_quiet_end();
    rp_patience_end(&patience);
}

bool rp_is_ghost(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_GHOST && !(entry->flags & RP_REQUEST_CANCELLING);
}

void rp_stop_at_ghost(const struct rp_call *call, MPI_Request request)
{
    struct rp_patience patience = {0};

    while (rp_is_ghost(request) && !rp_replay_is_free()) {
        if (!rp_threads_on || rp_turns_are_over()) {
            rp_replay_end_of_record(call);
            break;
        }
        rp_patience_poll(
            &patience, call,
            "the end of the record"); /* another thread may cancel it, or has events left */
    }
    rp_patience_end(&patience);
}

void rp_answer_no(void)
{
    static unsigned answered;
    bool is_recorded = rp_follow_take_no();
    int flag;

    if (++answered % 16 == 0) {
        rp_needs_no_yield = is_recorded; /* Open MPI's own */
        rp_pmpi.Iprobe(0, 0, rp_constant.self, &flag, MPI_STATUS_IGNORE);
    }
    rp_needs_no_yield = is_recorded; /* one too many waits for another thread */
}
