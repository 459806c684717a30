/* SPDX-License-Identifier: MIT */
/* Blocking receives and probes. What has no communicator or source that we know (PROC_NULL, errors
 * of the program) goes to MPI as it is. */
#include <limits.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "det/det.h"
#include "preload/constants.h"

int rp_real_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return rp_pmpi.Recv_c(buf, count, type, source, tag, comm, status);
#endif
    return rp_pmpi.Recv(buf, (int)count, type, source, tag, comm, status);
}

int rp_real_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return rp_pmpi.Irecv_c(buf, count, type, source, tag, comm, request);
#endif
    return rp_pmpi.Irecv(buf, (int)count, type, source, tag, comm, request);
}

static void note_match(const struct rp_det_receive *receive, uint32_t source, int tag)
{
    if (receive->source == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG)
        rp_det_note(RP_DET_MATCH, source, (uint64_t)tag);
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
    rp_det_receive_wait(&receive);
    note_match(&receive, receive.from_world, receive.its_tag);
    rp_det_receive_close(&receive);
    return rp_real_recv(buf, count, type, receive.from, receive.its_tag, comm, status);
}

int rp_det_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Probe(source, tag, comm, status);
    const struct rp_message_note *note = rp_det_probe_wait(&probe);
    note_match(&probe, note->source, note->tag);
    return rp_pmpi.Probe(note->from, note->tag, comm, status);
}

int rp_det_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Iprobe(source, tag, comm, flag, status);
    const struct rp_message_note *note = rp_det_probe_test(&probe, rp_shared_now());
    *flag = note != NULL;
    rp_det_note(RP_DET_ANSWER, note != NULL, note ? note->source : 0);
    if (!note)
        return MPI_SUCCESS;
    note_match(&probe, note->source, note->tag);
    return rp_pmpi.Probe(note->from, note->tag, comm, status);
}

/* Synchronous messages that were found by MPI_Mprobe: their senders wait until they are
 * received. */
static struct probed {
    struct probed *next;
    MPI_Message message;
    struct rp_message_note *note;
} * all_probed;

static void keep_probed(MPI_Message message, struct rp_message_note *note)
{
    struct probed *probed = malloc(sizeof *probed);

    if (!probed)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    *probed = (struct probed){all_probed, message, note};
    all_probed = probed;
}

void rp_det_matched(const MPI_Message *message)
{
    for (struct probed **link = &all_probed; *link; link = &(*link)->next) {
        struct probed *probed = *link;
        if (probed->message != *message)
            continue;
        *link = probed->next;
        rp_det_tell_sender(probed->note, rp_shared_now());
        free(probed);
        return;
    }
}

/* The message goes out of the matching, as by a receive that is posted now. */
static int take_probed(struct rp_det_receive *probe, MPI_Comm comm, MPI_Message *message,
                       MPI_Status *status)
{
    probe->is_delayed = probe->is_made = probe->is_probe = true;
    rp_det_receive_post(probe);
    while (!probe->is_known) {
        rp_shared_hunger();
        rp_det_receive_mail();
    }
    rp_shared_sate();
    note_match(probe, probe->from_world, probe->its_tag);
    struct rp_message_note *note = probe->note->is_synchronous ? probe->note : NULL;
    if (note)
        probe->note = NULL; /* its sender gives it back */
    rp_det_receive_close(probe);
    int rc = rp_pmpi.Mprobe(probe->from, probe->its_tag, comm, message, status);
    if (note && rc == MPI_SUCCESS)
        keep_probed(*message, note);
    else if (note)
        rp_det_tell_sender(note, probe->posted);
    return rc;
}

int rp_det_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Mprobe(source, tag, comm, message, status);
    rp_det_probe_wait(&probe);
    return take_probed(&probe, comm, message, status);
}

int rp_det_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                   MPI_Status *status)
{
    struct rp_det_receive probe;

    if (!rp_det_receive_open(&probe, comm, source, tag))
        return rp_pmpi.Improbe(source, tag, comm, flag, message, status);
    *flag = rp_det_probe_test(&probe, rp_shared_now()) != NULL;
    rp_det_note(RP_DET_ANSWER, (uint64_t)*flag, 0);
    return *flag ? take_probed(&probe, comm, message, status) : MPI_SUCCESS;
}
