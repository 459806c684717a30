/* SPDX-License-Identifier: MIT */
/*
 * All wait for all, whatever the function, so that what a rank waits for does not depend on the
 * algorithm of the MPI library. All leave at one logical time: that of the latest arrival, plus the
 * latency. A rank with a receive under way reads its inbox while it waits. One without may wait
 * inside MPI, if the function itself makes all wait for all. Between hosts no rank does: some rank
 * must see what others call, and whether they ever arrive.
 *
 * The calls on a communicator, blocking or not, are counted, and those of one number are compared
 * in the shared state: before any of them could hang inside MPI, or take the data of another.
 */
#include "det/det_collectives.h"

#include "det/det_deadlock.h"
#include "det/det_mismatch.h"
#include "det/det_sites.h"
#include "det/det_wait.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

/* Of persistent calls: their number in the upper half, then how often it was started. */
#define STARTS UINT64_C(0x8000000000000000)

static bool is_complete(void *data, bool only_whether)
{
    (void)only_whether;
    return rp_shared_collective_is_complete(data);
}

static void leave_later(const struct rp_shared_collective *collective)
{
    rp_shared_raise(atomic_load(&collective->latest) + rp_shared.latency);
}

/* On an intercommunicator, the group of the root says MPI_ROOT or MPI_PROC_NULL, the other one the
 * rank in the first. */
static uint32_t root_of(const struct rp_det_comm *comm, int root)
{
    if (root == RP_DET_NO_ROOT)
        return RP_SHARED_NO_ROOT;
    if (root == MPI_ROOT)
        return rp_shared.rank;
    if (root == MPI_PROC_NULL)
        return RP_SHARED_SOME_ROOT;
    return root >= 0 && root < comm->size ? comm->world[root] : RP_SHARED_BAD_ROOT;
}

struct rp_shared_call rp_det_call(const struct rp_det_comm *comm, struct rp_det_operation what)
{
    uint32_t root = root_of(comm, what.root);

    return (struct rp_shared_call){what.function, what.op,        root,
                                   what.root,     rp_shared.rank, rp_det_site()};
}

static struct rp_shared_collective *come_to(const struct rp_det_comm *c, uint64_t number,
                                            struct rp_det_operation what)
{
    struct rp_shared_call call = rp_det_call(c, what);
    struct rp_shared_collective *collective =
        rp_shared_collective_arrive(c->id, number, c->members, c->member_count, &call);

    rp_det_check_mismatch();
    return collective;
}

struct rp_shared_collective *rp_det_collective_enter(enum rp_det_manner manner, MPI_Comm comm,
                                                     struct rp_det_operation what)
{
    struct rp_det_comm *c = rp_det_comm_find(comm);

    if (!c || c->member_count < 2)
        return NULL;
    rp_det_match_messages();
    struct rp_shared_collective *collective = come_to(c, ++c->collectives, what);
    struct rp_det_wait wait = {.kind = RP_WAIT_COLLECTIVE,
                               .candidate = RP_SEND_NEVER,
                               .object = rp_shared_offset(collective),
                               .what = rp_det.function};
    if (manner == RP_DET_SYNCHRONISES && !rp_det_has_receives() && !rp_shared.host_of) {
        rp_det_publish_comm(c);
        rp_shared_block(&(struct rp_shared_plan){.wait = RP_WAIT_INSIDE_MPI,
                                                 .candidate = RP_SEND_NEVER,
                                                 .object = wait.object},
                        wait.what);
        if (!rp_shared_collective_is_complete(collective))
            rp_det_look_for_deadlock();
        return collective;
    }
    rp_det_wait(is_complete, collective, &wait);
    leave_later(collective);
    return collective;
}

void rp_det_collective_leave(struct rp_shared_collective *collective)
{
    if (!collective)
        return;
    if (rp_shared_is_blocked()) {
        rp_shared_unblock();
        rp_det_match_messages();
        leave_later(collective);
    }
    rp_shared_collective_leave(collective);
}

void rp_det_collective_wait(uint64_t key, uint64_t number, const uint64_t *members, uint32_t size,
                            const struct rp_shared_call *call)
{
    if (size < 2)
        return;
    rp_det_match_messages();
    struct rp_shared_collective *collective =
        rp_shared_collective_arrive(key, number, members, size, call);
    rp_det_check_mismatch();
    struct rp_det_wait wait = {.kind = RP_WAIT_COLLECTIVE,
                               .candidate = RP_SEND_NEVER,
                               .object = rp_shared_offset(collective),
                               .what = rp_det.function};
    rp_det_wait(is_complete, collective, &wait);
    leave_later(collective);
    rp_shared_collective_leave(collective);
}

uint64_t rp_det_collective_compare(MPI_Comm comm, struct rp_det_operation what)
{
    struct rp_det_comm *c = rp_det_comm_find(comm);

    if (!c || c->member_count < 2)
        return 0;
    rp_shared_collective_leave(come_to(c, ++c->collectives, what));
    return c->collectives;
}

struct rp_shared_collective *rp_det_collective_begin(MPI_Comm comm, struct rp_det_operation what)
{
    struct rp_det_comm *c = rp_det_comm_find(comm);

    return c && c->member_count > 1 ? come_to(c, ++c->collectives, what) : NULL;
}

/* Several may be started in any order. What is called was compared when it was made. */
struct rp_shared_collective *rp_det_collective_start(struct rp_det_request *own)
{
    struct rp_det_comm *c = rp_det_comm_find(own->comm);
    uint64_t number = STARTS | own->number << 32 | (++own->starts & UINT32_MAX);

    return c && c->member_count > 1
               ? come_to(c, number, (struct rp_det_operation){.root = RP_DET_NO_ROOT})
               : NULL;
}

int rp_det_collective_begun(int rc, struct rp_shared_collective *collective, MPI_Request *request)
{
    if (!collective || rc != MPI_SUCCESS)
        return rp_det_new_handle(rc, request);
    struct rp_det_request *own = rp_det_request_new(RP_DET_COLLECTIVE);
    own->collective = collective;
    rp_det_request_enter(*request, own);
    return rc;
}

/* The request of a call that makes a communicator is entered even where this rank is alone. */
int rp_det_collective_begun_comm(int rc, struct rp_shared_collective *collective, MPI_Comm parent,
                                 MPI_Comm *made, MPI_Request *request)
{
    uint64_t id = rp_det_comm_reserve_id(parent);

    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_det_request *own = rp_det_request_new(RP_DET_COLLECTIVE);
    own->collective = collective;
    own->made = made;
    own->made_id = id;
    rp_det_request_enter(*request, own);
    return rc;
}

int rp_det_collective_init(int rc, MPI_Comm comm, uint64_t number, MPI_Request *request)
{
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_det_request *own = rp_det_request_new(RP_DET_COLLECTIVE);
    own->is_persistent = true;
    own->is_active = false;
    own->type = rp_constant.byte;
    own->comm = comm;
    own->number = number;
    rp_pmpi.Type_dup(rp_constant.byte, &own->type);
    rp_det_request_enter(*request, own);
    return rc;
}

/* What is under way on it still needs it: then it stays. So do functions of the program that MPI
 * calls for its attributes. */
static int free_comm(struct rp_det_comm *c, int (*real)(MPI_Comm *), MPI_Comm *comm)
{
    int rc = MPI_SUCCESS;

    if (rp_det_posted_delays(c))
        *comm = rp_constant.comm_null;
    else
        rc = real(comm);
    rp_det_comm_freed(c, rp_det_posted_uses(c));
    return rc;
}

static struct rp_det_comm *of_program(MPI_Comm comm)
{
    return comm == rp_constant.world || comm == rp_constant.self ? NULL : rp_det_comm_find(comm);
}

int rp_det_Comm_free(int (*real)(MPI_Comm *), MPI_Comm *comm, uint32_t function)
{
    struct rp_det_comm *c = of_program(*comm);

    if (!c)
        return real(comm);
    rp_det_collective_compare(*comm, (struct rp_det_operation){function, RP_DET_NO_ROOT, 0});
    return free_comm(c, real, comm);
}

int rp_det_Comm_disconnect(int (*real)(MPI_Comm *), MPI_Comm *comm, uint32_t function)
{
    struct rp_det_comm *c = of_program(*comm);

    if (!c)
        return real(comm);
    struct rp_shared_collective *collective =
        rp_det_collective_enter(RP_DET_MAY_NOT, *comm,
                                (struct rp_det_operation){function, RP_DET_NO_ROOT, 0});
    int rc = free_comm(c, real, comm);
    rp_det_collective_leave(collective);
    return rc;
}
