/* SPDX-License-Identifier: MIT */
/* What src/det calls: a stand-in for MPI, and for the parts of src/det that are not compiled. */
#ifndef MODEL_CALLS_H
#define MODEL_CALLS_H

#include "model_ranks.h"

/* What the rest of src/det would do */

struct rp_det_comm *rp_det_comm_find(MPI_Comm comm)
{
    return comm > 0 && comm <= MODEL_COMMS ? &model_self()->comms[comm] : NULL;
}

void rp_det_comm_made_with_id(MPI_Comm made, uint64_t id)
{
    (void)made, (void)id;
}

uint64_t rp_det_comm_reserve_id(MPI_Comm parent)
{
    (void)parent;
    return 0;
}

void rp_det_comm_freed(struct rp_det_comm *comm, bool is_used)
{
    (void)comm, (void)is_used;
}

void rp_det_refuse(const char *function)
{
    (void)function;
    model_self()->end = MODEL_REFUSED;
    for (;;)
        model_switch();
}

void rp_det_refuse_thread(const char *function)
{
    rp_det_refuse(function);
}

struct rp_rank_slot *rp_det_slot; /* NULL: nobody asks */

void rp_det_status_waits(const char *function, const char *what)
{
    (void)function, (void)what;
}

void rp_det_status_goes_on(void)
{
}

void rp_det_put_wait(struct rp_buffer *text, const struct rp_det_wait *wait)
{
    (void)text, (void)wait;
}

void rp_det_publish_wait(const struct rp_det_wait *wait)
{
    (void)wait;
}

void rp_det_publish_comm(const struct rp_det_comm *comm)
{
    (void)comm;
}

void rp_det_report_deadlock(void)
{
}

uint32_t rp_det_site(void)
{
    return 0;
}

void rp_det_count_sent(uint32_t dest)
{
    (void)dest;
}

void rp_det_check_mismatch(void)
{
    const struct rp_shared_collective *collective = rp_shared_mismatch();

    if (!collective)
        return;
    model.result->mismatches = collective->first.rank != collective->other.rank &&
                               collective->first.function != collective->other.function;
    rp_det_refuse("a collective call");
}

/* Programs of the model are right in this. */
void rp_det_report_stale(const char *became, uint32_t site)
{
    (void)became, (void)site;
    abort();
}

void rp_det_end_job(int exit_status)
{
    (void)exit_status;
    abort();
}

void rp_det_delay(void)
{
}

static int model_op_now[MODEL_RANKS];

static void model_add_fact(int what, int value)
{
    struct model_result *result = model.result;
    int rank = model.now;

    model.told++;
    result->is_wrong |=
        model_self()->end == MODEL_DEADLOCK &&
        what != 'm'; /* one of several receives that it waits for may still be matched */
    if (result->counts[rank] < MODEL_FACTS)
        result->facts[rank][result->counts[rank]++] =
            (struct model_fact){model_op_now[rank], what, value, rp_shared_now()};
}

void rp_det_decided(enum rp_det_decision decision, uint64_t a, uint64_t b)
{
    model_add_fact(decision == RP_DET_MATCH ? 'm' : 'a', (int)(a * 1000 + (b & 255)));
}

/* MPI: messages are delivered at once, receives are matched in the order in which they were
 * posted. */

static bool model_fits(const struct model_real *real, const struct model_message *message)
{
    return real->comm == message->comm &&
           (real->source == MPI_ANY_SOURCE || real->source == message->source) &&
           (real->tag == MPI_ANY_TAG || real->tag == message->tag);
}

static void model_give(struct model_real *real, struct model_message *message)
{
    message->is_matched = true;
    real->message = message;
    real->is_done = true;
    *real->buffer = message->payload;
}

static MPI_Request model_new_real(enum model_real_kind kind)
{
    struct model_rank *self = model_self();

    for (int i = 0; i < MODEL_REALS; i++)
        if (self->reals[i].kind == REAL_FREE) {
            self->reals[i] = (struct model_real){.kind = kind, .number = ++self->real_posts};
            return i + 1;
        }
    abort();
}

static struct model_real *model_real_of(MPI_Request request)
{
    return &model_self()->reals[request - 1];
}

static struct model_message *model_post_letter(const void *buf, int dest, int tag, MPI_Comm comm)
{
    struct model_rank *to = &model.ranks[dest];
    struct model_message *message = &to->messages[to->message_count];
    struct model_real *first = NULL;

    if (to->message_count++ == MODEL_MESSAGES)
        abort();
    *message = (struct model_message){.source = model.now,
                                      .tag = tag,
                                      .comm = comm,
                                      .payload = *(const int *)buf};
    for (int i = 0; i < MODEL_REALS; i++) {
        struct model_real *real = &to->reals[i];
        if (real->kind == REAL_RECEIVE && !real->is_done && model_fits(real, message) &&
            (!first || real->number < first->number))
            first = real;
    }
    if (first)
        model_give(first, message);
    return message;
}

static int model_Send(const void *buf, int number, MPI_Datatype type, int dest, int tag,
                      MPI_Comm comm)
{
    (void)number, (void)type;
    model_point();
    model_post_letter(buf, dest, tag, comm);
    return MPI_SUCCESS;
}

static int model_Isend(const void *buf, int number, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    *request = model_new_real(REAL_SEND);
    model_real_of(*request)->is_done = true;
    return dest == MPI_PROC_NULL ? MPI_SUCCESS : model_Send(buf, number, type, dest, tag, comm);
}

static int model_Issend(const void *buf, int number, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm, MPI_Request *request)
{
    (void)number, (void)type;
    model_point();
    *request = model_new_real(REAL_SYNCHRONOUS);
    model_real_of(*request)->message = model_post_letter(buf, dest, tag, comm);
    return MPI_SUCCESS;
}

static struct model_message *model_first_letter(const struct model_real *real)
{
    struct model_rank *self = model_self();

    for (int i = 0; i < self->message_count; i++)
        if (!self->messages[i].is_matched && model_fits(real, &self->messages[i]))
            return &self->messages[i];
    return NULL;
}

static int model_Irecv(void *buf, int number, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    (void)number, (void)type;
    model_point();
    *request = model_new_real(REAL_RECEIVE);
    struct model_real *real = model_real_of(*request);
    real->source = source;
    real->tag = tag;
    real->comm = comm;
    real->buffer = buf;
    struct model_message *message = model_first_letter(real);
    if (message)
        model_give(real, message);
    return MPI_SUCCESS;
}

static int model_Recv_init(void *buf, int number, MPI_Datatype type, int source, int tag,
                           MPI_Comm comm, MPI_Request *request)
{
    (void)buf, (void)number, (void)type, (void)source, (void)tag, (void)comm;
    *request = model_new_real(REAL_STAND_IN);
    return MPI_SUCCESS;
}

static bool model_all_came(int is_nonblocking, int comm, int times)
{
    for (int i = 0; i < model.program->ranks; i++)
        if (model_self()->members[comm] >> i & 1 &&
            model.ranks[i].came[is_nonblocking][comm] < times)
            return false;
    return true;
}

static bool model_is_done(const struct model_real *real)
{
    switch (real->kind) {
    case REAL_SYNCHRONOUS:
        return real->message->is_matched;
    case REAL_BARRIER:
        return model_all_came(1, real->comm, real->came);
    default:
        return real->is_done;
    }
}

static void model_rest_in_mpi(void)
{
    model_self()->is_in_mpi = true;
    model_idle();
    model_self()->is_in_mpi = false;
}

static void model_put_status(const struct model_real *real, MPI_Status *status)
{
    if (status)
        *status = (MPI_Status){real->message ? real->message->source : -1,
                               real->message ? real->message->tag : -1, 0, real->is_cancelled};
}

static int model_Wait(MPI_Request *request, MPI_Status *status)
{
    if (*request == 0)
        return MPI_SUCCESS;
    struct model_real *real = model_real_of(*request);
    while (!model_is_done(real))
        model_rest_in_mpi();
    model_put_status(real, status);
    real->kind = REAL_FREE;
    *request = 0;
    return MPI_SUCCESS;
}

static int model_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    *flag = model_is_done(model_real_of(request));
    model_put_status(model_real_of(request), status);
    return MPI_SUCCESS;
}

static int model_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    *flag = *request == 0 || model_is_done(model_real_of(*request));
    return *flag ? model_Wait(request, status) : MPI_SUCCESS;
}

static int model_Recv(void *buf, int number, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      MPI_Status *status)
{
    MPI_Request request;

    model_Irecv(buf, number, type, source, tag, comm, &request);
    return model_Wait(&request, status);
}

static int model_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct model_real real = {.source = source, .tag = tag, .comm = comm};

    while (!(real.message = model_first_letter(&real)))
        model_rest_in_mpi();
    model_put_status(&real, status);
    return MPI_SUCCESS;
}

/* It is called for MPI to work. */
static int model_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

static int model_Cancel(MPI_Request *request)
{
    struct model_real *real = model_real_of(*request);

    if (!real->is_done)
        real->is_cancelled = real->is_done = true;
    return MPI_SUCCESS;
}

static int model_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->is_cancelled;
    return MPI_SUCCESS;
}

static int model_Status_set_cancelled(MPI_Status *status, int flag)
{
    *status = (MPI_Status){-1, -1, 0, flag};
    return MPI_SUCCESS;
}

static int model_Status_set_elements_x(MPI_Status *status, MPI_Datatype type, MPI_Count number)
{
    (void)status, (void)type, (void)number;
    return MPI_SUCCESS;
}

static int model_Type_dup(MPI_Datatype type, MPI_Datatype *copy)
{
    *copy = type;
    return MPI_SUCCESS;
}

static int model_Type_free(MPI_Datatype *type)
{
    *type = 0;
    return MPI_SUCCESS;
}

static int model_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    (void)type;
    *size = sizeof(int);
    return MPI_SUCCESS;
}

static int model_Type_get_extent_x(MPI_Datatype type, MPI_Count *lower, MPI_Count *extent)
{
    *lower = 0;
    return model_Type_size_x(type, extent);
}

static const struct rp_next model_mpi = {
    .Send = model_Send,
    .Isend = model_Isend,
    .Issend = model_Issend,
    .Recv = model_Recv,
    .Irecv = model_Irecv,
    .Recv_init = model_Recv_init,
    .Probe = model_Probe,
    .Iprobe = model_Iprobe,
    .Wait = model_Wait,
    .Cancel = model_Cancel,
    .Request_get_status = model_Request_get_status,
    .Test_cancelled = model_Test_cancelled,
    .Status_set_cancelled = model_Status_set_cancelled,
    .Status_set_elements_x = model_Status_set_elements_x,
    .Type_dup = model_Type_dup,
    .Type_free = model_Type_free,
    .Type_size_x = model_Type_size_x,
    .Type_get_extent_x = model_Type_get_extent_x,
    .Type_get_true_extent_x = model_Type_get_extent_x,
    .Test = model_Test,
};

static void model_real_barrier(int comm)
{
    int times = ++model_self()->came[0][comm];

    while (!model_all_came(0, comm, times))
        model_rest_in_mpi();
}

#endif
