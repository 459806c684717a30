/* SPDX-License-Identifier: MIT */
/* What has no communicator or source that we know (PROC_NULL, errors of the program) goes to MPI as
 * it is. */
#include "det/det_receives.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "det/det_real.h"
#include "det/det_wait.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

static bool is_taken(void *data, bool only_whether)
{
    (void)only_whether;
    return ((struct rp_det_receive *)data)->is_known;
}

static struct rp_det_wait wait_for(const struct rp_det_receive *receive)
{
    bool is_named = receive->source != MPI_ANY_SOURCE && !receive->is_delayed;

    return (struct rp_det_wait){.kind = is_named ? RP_WAIT_MESSAGE : RP_WAIT_ANY,
                                .target = receive->world,
                                .candidate = RP_SEND_NEVER,
                                .receive = receive,
                                .what = rp_det.function};
}

static void wait_for_message(struct rp_det_receive *receive)
{
    struct rp_det_wait wait = wait_for(receive);

    rp_det_wait(is_taken, receive, &wait);
    rp_shared_raise(receive->stamp + rp_shared.latency);
}

static void decide_match(const struct rp_det_receive *receive, uint32_t source, int tag)
{
    if (receive->source == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG)
        rp_det_decided(RP_DET_MATCH, source, (uint64_t)tag);
}

int rp_det_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status *status)
{
    struct rp_det_receive receive;

    if (count < 0 || type == rp_constant.datatype_null ||
        !rp_det_receive_open(&receive, comm, source, tag))
        return rp_real_recv(buf, count, type, source, tag, comm, status);
    receive.is_delayed = rp_det_receive_must_delay(&receive);
    receive.is_made = true; /* below */
    rp_det_receive_post(&receive);
    wait_for_message(&receive);
    decide_match(&receive, receive.from_world, receive.its_tag);
    rp_det_receive_close(&receive);
    return rp_real_recv(buf, count, type, receive.from, receive.its_tag, comm, status);
}

/* Probes */

struct probe {
    struct rp_det_receive *probe;
    struct rp_shared_message *message;
    uint64_t limit;
    bool is_after;
};

static bool is_found(void *data, bool only_whether)
{
    struct probe *p = data;

    (void)only_whether;
    p->message = rp_det_match(p->probe);
    return p->message != NULL;
}

static struct rp_shared_message *wait_for_probe(struct rp_det_receive *probe)
{
    struct probe p = {.probe = probe};
    struct rp_det_wait wait = wait_for(probe);

    wait.probe = probe;
    rp_det_wait(is_found, &p, &wait);
    rp_shared_raise(p.message->stamp + rp_shared.latency);
    return p.message;
}

static bool is_decided(void *data, bool only_whether)
{
    struct probe *p = data;

    if (is_found(data, only_whether))
        return true;
    p->is_after = rp_det_is_after(p->probe, p->limit);
    return p->is_after;
}

static struct rp_shared_message *test_probe(struct rp_det_receive *probe, uint64_t limit)
{
    struct probe p = {.probe = probe, .limit = rp_det_seen_until(limit)};
    struct rp_det_wait wait = {.runs = true};

    rp_det_wait(is_decided, &p, &wait);
    return p.message && p.message->stamp <= p.limit ? p.message : NULL;
}

int rp_det_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Probe(source, tag, comm, status);
    const struct rp_shared_message *message = wait_for_probe(&probe);
    decide_match(&probe, message->source, message->tag);
    return rp_pmpi.Probe(message->from, message->tag, comm, status);
}

int rp_det_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Iprobe(source, tag, comm, flag, status);
    const struct rp_shared_message *message = test_probe(&probe, rp_shared_now());
    *flag = message != NULL;
    rp_det_decided(RP_DET_ANSWER, message != NULL, message ? message->source : 0);
    if (!message)
        return MPI_SUCCESS;
    decide_match(&probe, message->source, message->tag);
    return rp_pmpi.Probe(message->from, message->tag, comm, status);
}

/* Synchronous messages that were found by MPI_Mprobe: their senders wait until they are
 * received. */
static struct probed {
    struct probed *next;
    MPI_Message handle;
    struct rp_shared_message *message;
} * all_probed;

static void keep_probed(MPI_Message handle, struct rp_shared_message *message)
{
    struct probed *probed = malloc(sizeof *probed);

    if (!probed)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    *probed = (struct probed){all_probed, handle, message};
    all_probed = probed;
}

void rp_det_matched(const MPI_Message *handle)
{
    for (struct probed **link = &all_probed; *link; link = &(*link)->next) {
        struct probed *probed = *link;
        if (probed->handle != *handle)
            continue;
        *link = probed->next;
        rp_det_notify_sender(probed->message, rp_shared_now());
        free(probed);
        return;
    }
}

/* The message goes out of the matching, as by a receive that is posted now. */
static int take_probed(struct rp_det_receive *probe, MPI_Comm comm, MPI_Message *handle,
                       MPI_Status *status)
{
    probe->is_delayed = probe->is_made = probe->is_probe = true;
    rp_det_receive_post(probe);
    while (!probe->is_known) {
        rp_shared_request_updates();
        rp_det_match_messages();
    }
    rp_shared_stop_updates();
    decide_match(probe, probe->from_world, probe->its_tag);
    struct rp_shared_message *message = probe->message->is_synchronous ? probe->message : NULL;
    if (message)
        probe->message = NULL; /* its sender frees it */
    rp_det_receive_close(probe);
    int rc = rp_pmpi.Mprobe(probe->from, probe->its_tag, comm, handle, status);
    if (message && rc == MPI_SUCCESS)
        keep_probed(*handle, message);
    else if (message)
        rp_det_notify_sender(message, probe->posted);
    return rc;
}

int rp_det_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *handle, MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Mprobe(source, tag, comm, handle, status);
    wait_for_probe(&probe);
    return take_probed(&probe, comm, handle, status);
}

int rp_det_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *handle,
                   MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Improbe(source, tag, comm, flag, handle, status);
    *flag = test_probe(&probe, rp_shared_now()) != NULL;
    rp_det_decided(RP_DET_ANSWER, (uint64_t)*flag, 0);
    return *flag ? take_probed(&probe, comm, handle, status) : MPI_SUCCESS;
}
