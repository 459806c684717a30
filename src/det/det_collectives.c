/* SPDX-License-Identifier: MIT */
/*
 * Collective calls: all wait for all, whatever the function, so that what a rank waits for does not
 * depend on the algorithm of the MPI library; and all leave at one time, the latest at which one of
 * them came, and the latency. Who has a receive under way looks after its messages while it waits;
 * who has none may wait inside MPI, if the function itself makes all wait for all. Between hosts
 * nobody does: what others call, and whether they ever come, must be seen by somebody.
 *
 * The calls on a communicator, blocking or not, are counted, and those of one number are compared
 * where they meet: before any of them could hang inside MPI, or take the data of another.
 */
#include "det/det.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

/* Of persistent calls: their number in the upper half, then how often it was started. */
#define STARTS UINT64_C(0x8000000000000000)

static bool is_complete(void *data, bool only_whether)
{
    (void)only_whether;
    return rp_shared_is_complete(data);
}

static void leave_later(const struct rp_shared_collective *meeting)
{
    rp_shared_raise(atomic_load(&meeting->latest) + rp_shared_side.latency);
}

/* On an intercommunicator, the group of the root says MPI_ROOT or MPI_PROC_NULL, the other one the
 * rank in the first. */
static uint32_t root_of(const struct rp_det_comm *comm, int root)
{
    if (root == RP_DET_NO_ROOT)
        return RP_SHARED_NO_ROOT;
    if (root == MPI_ROOT)
        return rp_shared_side.rank;
    if (root == MPI_PROC_NULL)
        return RP_SHARED_SOME_ROOT;
    return root >= 0 && root < comm->size ? comm->world[root] : RP_SHARED_BAD_ROOT;
}

struct rp_shared_call rp_det_call(const struct rp_det_comm *comm, struct rp_det_what what)
{
    uint32_t root = root_of(comm, what.root);

    return (struct rp_shared_call){what.function,       what.op,      root, what.root,
                                   rp_shared_side.rank, rp_det_site()};
}

static struct rp_shared_collective *come_to(const struct rp_det_comm *c, uint64_t number,
                                            struct rp_det_what what)
{
    struct rp_shared_call call = rp_det_call(c, what);
    struct rp_shared_collective *meeting =
        rp_shared_meet(c->id, number, c->members, c->member_count, &call);

    rp_det_check_mismatch();
    return meeting;
}

struct rp_shared_collective *rp_det_meet(enum rp_det_manner manner, MPI_Comm comm,
                                         struct rp_det_what what)
{
    struct rp_det_comm *c = rp_det_comm_find(comm);

    if (!c || c->member_count < 2)
        return NULL;
    rp_det_receive_mail();
    struct rp_shared_collective *meeting = come_to(c, ++c->met, what);
    struct rp_det_wait wait = {.kind = RP_SHARED_MEETING,
                               .candidate = RP_SEND_NEVER,
                               .object = rp_shared_place(meeting),
                               .what = rp_det.function};
    if (manner == RP_DET_SYNCHRONISES && !rp_det_has_receives() && !rp_shared_side.host_of) {
        rp_det_tell_comm(c);
        rp_shared_block(&(struct rp_shared_plan){.wait = RP_SHARED_DEAF,
                                                 .candidate = RP_SEND_NEVER,
                                                 .object = wait.object},
                        wait.what);
        if (!rp_shared_is_complete(meeting))
            rp_det_last_look();
        return meeting;
    }
    rp_det_wait(is_complete, meeting, &wait);
    leave_later(meeting);
    return meeting;
}

void rp_det_met(struct rp_shared_collective *meeting)
{
    if (!meeting)
        return;
    if (rp_shared_is_blocked()) {
        rp_shared_unblock();
        rp_det_receive_mail();
        leave_later(meeting);
    }
    rp_shared_leave(meeting);
}

void rp_det_meet_at(uint64_t key, uint64_t number, const uint64_t *members, uint32_t size,
                    const struct rp_shared_call *call)
{
    if (size < 2)
        return;
    rp_det_receive_mail();
    struct rp_shared_collective *meeting = rp_shared_meet(key, number, members, size, call);
    rp_det_check_mismatch();
    struct rp_det_wait wait = {.kind = RP_SHARED_MEETING,
                               .candidate = RP_SEND_NEVER,
                               .object = rp_shared_place(meeting),
                               .what = rp_det.function};
    rp_det_wait(is_complete, meeting, &wait);
    leave_later(meeting);
    rp_shared_leave(meeting);
}

uint64_t rp_det_pass_by(MPI_Comm comm, struct rp_det_what what)
{
    struct rp_det_comm *c = rp_det_comm_find(comm);

    if (!c || c->member_count < 2)
        return 0;
    rp_shared_leave(come_to(c, ++c->met, what));
    return c->met;
}

struct rp_shared_collective *rp_det_begin_meeting(MPI_Comm comm, struct rp_det_what what)
{
    struct rp_det_comm *c = rp_det_comm_find(comm);

    return c && c->member_count > 1 ? come_to(c, ++c->met, what) : NULL;
}

/* Several may be started in any order. What is called was compared when it was made. */
struct rp_shared_collective *rp_det_start_meeting(struct rp_det_request *own)
{
    struct rp_det_comm *c = rp_det_comm_find(own->comm);
    uint64_t number = STARTS | own->number << 32 | (++own->starts & UINT32_MAX);

    return c && c->member_count > 1
               ? come_to(c, number, (struct rp_det_what){.root = RP_DET_NO_ROOT})
               : NULL;
}

int rp_det_began(int rc, struct rp_shared_collective *meeting, MPI_Request *request)
{
    if (!meeting || rc != MPI_SUCCESS)
        return rp_det_new_handle(rc, request);
    struct rp_det_request *own = rp_det_request_new(RP_DET_MEETS);
    own->meeting = meeting;
    rp_det_request_note(*request, own);
    return rc;
}

/* Of one that makes a communicator, it is needed even where there is nobody to meet. */
int rp_det_began_comm(int rc, struct rp_shared_collective *meeting, MPI_Comm parent, MPI_Comm *made,
                      MPI_Request *request)
{
    uint64_t id = rp_det_comm_later(parent);

    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_det_request *own = rp_det_request_new(RP_DET_MEETS);
    own->meeting = meeting;
    own->made = made;
    own->made_id = id;
    rp_det_request_note(*request, own);
    return rc;
}

int rp_det_init_meeting(int rc, MPI_Comm comm, uint64_t number, MPI_Request *request)
{
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_det_request *own = rp_det_request_new(RP_DET_MEETS);
    own->is_persistent = true;
    own->is_active = false;
    own->type = rp_constant.byte;
    own->comm = comm;
    own->number = number;
    rp_pmpi.Type_dup(rp_constant.byte, &own->type);
    rp_det_request_note(*request, own);
    return rc;
}
