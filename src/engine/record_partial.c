/* SPDX-License-Identifier: MIT */
/* After each call that made events the debugger's place is reached (engine/gdb_hooks.h). None of
 * this is in the way of ordinary recording: it is another table of operations, and no call is idle.
 */
#include "engine/record_partial.h"

#include "job/settings.h"
#include "engine/record_data.h"
#include "engine/record_events.h"
#include "engine/gdb_hooks.h"
#include "engine/spawn.h"
#include "entry/entry.h"
#include "log/logreader.h"
#include "entry/comms.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "preload/completion_call.h"

static const struct rp_engine *plain;
static struct rp_engine engine;
static uint64_t shown; /* events */

static void show_events(const struct rp_call *call)
{
    uint64_t events = rp_recorder.ring->head;

    if (events == shown)
        return;
    shown = events;
    reprise_return_address = call->return_address;
    rp_gdb_hook_place(events, NULL, NULL);
    reprise_event();
}

/* Threads: a call waits for its turn before it begins, since nobody else may get the lock inside
 * it. */

static void partial_turn_begin(const struct rp_call *call, int is_post)
{
    (void)is_post;
    rp_record_data_turn_begin(call->function);
    if (rp_engine) /* another thread may have ended MPI meanwhile */
        rp_record_choose_thread(call);
}

/* The poll is answered no, as far as the record goes. */
static bool says_no(const struct rp_call *call)
{
    return rp_threads_on && !rp_record_data_answers(call->function);
}

static int answer_no(const struct rp_call *call, uint32_t scope, int *flag)
{
    *flag = 0;
    rp_record_no(call, scope);
    return MPI_SUCCESS;
}

static void await_turn(const struct rp_call *call)
{
    if (rp_threads_on)
        rp_record_data_await(call->function);
}

static void partial_received_other(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                                   const MPI_Status *status, int rc)
{
    plain->received_other(call, source, tag, comm, status, rc);
    show_events(call);
}

#define SHOWN(name, parameters, ...)                                                               \
    static int partial_##name parameters                                                           \
    {                                                                                              \
        await_turn(call);                                                                          \
        int rc = plain->name(__VA_ARGS__);                                                         \
                                                                                                   \
        show_events(call);                                                                         \
        return rc;                                                                                 \
    }

SHOWN(Probe, (const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *status),
      call, source, tag, comm, status)
SHOWN(Mprobe,
      (const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message,
       MPI_Status *status),
      call, source, tag, comm, message, status)
SHOWN(Cancel, (const struct rp_call *call, MPI_Request *request), call, request)
SHOWN(Request_free, (const struct rp_call *call, MPI_Request *request), call, request)

static int partial_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    int rc = plain->value(call, a, c);

    show_events(call);
    return rc;
}

static int partial_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Status *status)
{
    if (says_no(call))
        return answer_no(call, rp_comms_number(comm), flag);
    int rc = plain->Iprobe(call, source, tag, comm, flag, status);
    show_events(call);
    return rc;
}

static int partial_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                           int *flag, MPI_Message *message, MPI_Status *status)
{
    if (says_no(call))
        return answer_no(call, rp_comms_number(comm), flag);
    int rc = plain->Improbe(call, source, tag, comm, flag, message, status);
    show_events(call);
    return rc;
}

static int partial_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                      MPI_Status *status)
{
    if (says_no(call))
        return answer_no(call, 1, flag);
    int rc = plain->Request_get_status(call, request, flag, status);
    show_events(call);
    return rc;
}

static int partial_complete(const struct rp_call *call, const struct rp_completion *c)
{
    if (!c->tests) {
        await_turn(call);
    } else if (says_no(call)) {
        rp_completion_put_no(c);
        rp_record_no(call, (uint32_t)c->count);
        return MPI_SUCCESS;
    }
    int rc = plain->complete(call, c);
    show_events(call);
    return rc;
}

static int leads(void)
{
    return 1;
}

static void value_taken(void)
{
    rp_record_data_value_taken();
}

/* Nothing is spawned or connected. But this process makes the calls by which a recorded root finds
 * out about them: their results are in the data log, too. */

static const struct rp_session *rank_session;

static int partial_spawn(const struct rp_call *call, const struct rp_spawn *spawn)
{
    char job[RP_JOB_NAME];
    bool is_root = rp_spawn_is_root(call, spawn, rank_session, job);
    int rc = rp_spawn_plain(call, spawn);

    if (is_root && rc == MPI_SUCCESS)
        rp_spawn_children(spawn);
    show_events(call);
    return rc;
}

static int partial_connect(const struct rp_call *call, const struct rp_connection *c)
{
    int rc;
    int32_t unused = 0;
    uint64_t ticket = 0;

    partial_value(call, &unused, &ticket);
    RP_INSIDE(rc, call->next->Comm_connect(c->port, c->info, c->root, c->comm, c->newcomm));
    return rc;
}

static void partial_accepted(const char *function, const char *port)
{
    (void)function, (void)port;
}

static uint64_t recorded_events(const struct rp_session *session)
{
    struct rp_log *log;
    struct rp_problem ignored;
    uint64_t events = 0;

    if (rp_log_open(rp_setting("REPRISE_RUN"), session->run, (uint32_t)session->rank,
                    (uint32_t)session->ranks, &log, &ignored) == RP_OK) {
        events = rp_log_event_count(log);
        rp_log_free(log);
    }
    return events;
}

const struct rp_engine *rp_record_partial_over(const struct rp_engine *without,
                                               const struct rp_session *session)
{
    plain = without;
    engine = *without;
    engine.leads = leads;
    engine.turn_begin = partial_turn_begin;
    engine.Cancel = partial_Cancel;
    engine.Request_free = partial_Request_free;
    engine.value = partial_value;
    engine.value_taken = value_taken;
    engine.received_other = partial_received_other;
    engine.Probe = partial_Probe;
    engine.Mprobe = partial_Mprobe;
    engine.Iprobe = partial_Iprobe;
    engine.Improbe = partial_Improbe;
    engine.complete = partial_complete;
    engine.Request_get_status = partial_Request_get_status;
    engine.spawn = partial_spawn;
    engine.connect = partial_connect;
    engine.accepted = partial_accepted;
    engine.port_opened = NULL;
    engine.port_closed = NULL;
    engine.publishing = NULL;
    rank_session = session;
    rp_slow_set(RP_SLOW_TOOL);
    rp_gdb_hook_begin(session->rank, recorded_events(session));
    return &engine;
}
