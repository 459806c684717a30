/* SPDX-License-Identifier: MIT */
/* What a rank does in each operation of its program, and whole runs. */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "model_calls.h"

/* Operations */

enum { MODEL_WORLD = 1, MODEL_TYPE = 1 };

static int model_comm_of(int mask, int ranks)
{
    return mask == (1 << ranks) - 1 ? MODEL_WORLD : 2 + mask;
}

static void model_add_receive(const MPI_Status *status, int payload)
{
    model_add_fact('r', status->is_cancelled ? -1 : status->MPI_SOURCE * 100 + status->MPI_TAG);
    if (!status->is_cancelled)
        model_add_fact('p', payload);
}

static void model_completed(int slot, const MPI_Status *status)
{
    model_add_fact('c', slot);
    if (model_self()->is_receive[slot])
        model_add_receive(status, model_self()->buffers[slot]);
}

static void model_wait_slot(int slot)
{
    MPI_Status status = {0};

    if (model_self()->slots[slot] == 0)
        return;
    rp_det_wait_one(&model_self()->slots[slot], &status);
    model_completed(slot, &status);
}

static int model_free_slot(void)
{
    struct model_rank *self = model_self();

    for (int i = 0; i < MODEL_SLOTS; i++)
        if (self->slots[i] == 0)
            return i;
    model_wait_slot(0);
    return 0;
}

static bool model_has_slots(void)
{
    for (int i = 0; i < MODEL_SLOTS; i++)
        if (model_self()->slots[i] != 0)
            return true;
    return false;
}

static void model_send(const struct model_op *op)
{
    struct model_rank *self = model_self();
    int payload = model.now * 1000 + ++self->sent, slot;

    if (op->kind != MODEL_ISSEND) {
        rp_det_send(op->kind == MODEL_SEND ? RP_DET_STANDARD : RP_DET_SYNCHRONOUS, &payload, 1,
                    MODEL_TYPE, op->peer, op->tag, MODEL_WORLD);
        return;
    }
    slot = model_free_slot();
    self->buffers[slot] = payload;
    self->is_receive[slot] = false;
    rp_det_isend(RP_DET_SYNCHRONOUS, &self->buffers[slot], 1, MODEL_TYPE, op->peer, op->tag,
                 MODEL_WORLD, &self->slots[slot]);
}

static int model_source_of(const struct model_op *op)
{
    return op->peer < 0 ? MPI_ANY_SOURCE : op->peer;
}

static int model_tag_of(const struct model_op *op)
{
    return op->tag < 0 ? MPI_ANY_TAG : op->tag;
}

static void model_receive(const struct model_op *op)
{
    struct model_rank *self = model_self();
    MPI_Status status;
    int payload = -1;

    if (op->kind == MODEL_RECV) {
        rp_det_recv(&payload, 1, MODEL_TYPE, model_source_of(op), model_tag_of(op), MODEL_WORLD,
                    &status);
        model_add_receive(&status, payload);
        return;
    }
    int slot = model_free_slot();
    self->is_receive[slot] = true;
    rp_det_irecv(&self->buffers[slot], 1, MODEL_TYPE, model_source_of(op), model_tag_of(op),
                 MODEL_WORLD, &self->slots[slot]);
}

static void model_probe(const struct model_op *op)
{
    MPI_Status status;
    int flag = op->kind == MODEL_PROBE;

    if (flag)
        rp_det_probe(model_source_of(op), model_tag_of(op), MODEL_WORLD, &status);
    for (int i = 0; !flag && i < op->number; i++) {
        rp_shared_tick((uint64_t)op->ticks);
        rp_det_iprobe(model_source_of(op), model_tag_of(op), MODEL_WORLD, &flag, &status);
        model_add_fact('f', flag);
    }
    if (flag)
        model_add_fact('s', status.MPI_SOURCE * 100 + status.MPI_TAG);
}

static void model_completed_some(int found, const int *indices, const MPI_Status *statuses)
{
    model_add_fact('n', found);
    for (int i = 0; i < found; i++)
        model_completed(indices[i], &statuses[i]);
}

/* `found` is the flag or the number that the call gives. */
static void model_complete(enum rp_completion_form form, bool tests, MPI_Request *requests,
                           int count, int *found, int *indices, MPI_Status *statuses)
{
    bool is_some = form == RP_COMPLETE_SOME;

    rp_det_complete_call(&(struct rp_completion){.function = rp_det.function,
                                                 .form = form,
                                                 .tests = tests,
                                                 .count = count,
                                                 .requests = requests,
                                                 .flag = is_some ? NULL : found,
                                                 .index = is_some ? NULL : indices,
                                                 .outcount = is_some ? found : NULL,
                                                 .indices = is_some ? indices : NULL,
                                                 .statuses = statuses});
}

static void model_wait(const struct model_op *op)
{
    MPI_Status statuses[MODEL_SLOTS] = {0};
    MPI_Request *slots = model_self()->slots;
    int indices[MODEL_SLOTS], found;

    if (op->kind == MODEL_WAIT) {
        model_wait_slot(op->number % MODEL_SLOTS);
    } else if (op->kind == MODEL_WAITALL) {
        bool was[MODEL_SLOTS];
        for (int i = 0; i < MODEL_SLOTS; i++)
            was[i] = slots[i] != 0;
        model_complete(RP_COMPLETE_ALL, false, slots, MODEL_SLOTS, NULL, NULL, statuses);
        for (int i = 0; i < MODEL_SLOTS; i++)
            if (was[i])
                model_completed(i, &statuses[i]);
    } else if (op->kind == MODEL_WAITANY && model_has_slots()) {
        model_complete(RP_COMPLETE_ANY, false, slots, MODEL_SLOTS, NULL, indices, statuses);
        model_completed(indices[0], statuses);
    } else if (op->kind == MODEL_WAITSOME && model_has_slots()) {
        model_complete(RP_COMPLETE_SOME, false, slots, MODEL_SLOTS, &found, indices, statuses);
        model_completed_some(found, indices, statuses);
    }
}

static bool model_test_once(const struct model_op *op)
{
    MPI_Status statuses[MODEL_SLOTS] = {0};
    MPI_Request *slots = model_self()->slots;
    int indices[MODEL_SLOTS], flag = 0, slot = op->number / 8 % MODEL_SLOTS;

    if (op->kind == MODEL_TEST && slots[slot] != 0) {
        model_complete(RP_COMPLETE_ONE, true, &slots[slot], 1, &flag, NULL, statuses);
        if (flag)
            model_completed(slot, statuses);
    } else if (op->kind == MODEL_TESTANY) {
        model_complete(RP_COMPLETE_ANY, true, slots, MODEL_SLOTS, &flag, indices, statuses);
        if (flag)
            model_completed(indices[0], statuses);
    } else if (op->kind == MODEL_TESTSOME) {
        model_complete(RP_COMPLETE_SOME, true, slots, MODEL_SLOTS, &flag, indices, statuses);
        model_completed_some(flag, indices, statuses);
    } else if (op->kind == MODEL_TESTALL) {
        bool was[MODEL_SLOTS];
        for (int i = 0; i < MODEL_SLOTS; i++)
            was[i] = slots[i] != 0;
        model_complete(RP_COMPLETE_ALL, true, slots, MODEL_SLOTS, &flag, NULL, statuses);
        for (int i = 0; flag && i < MODEL_SLOTS; i++)
            if (was[i])
                model_completed(i, &statuses[i]);
    }
    model_add_fact('f', flag);
    return flag;
}

static void model_test(const struct model_op *op)
{
    for (int i = 0; i < 1 + op->number % 8 && model_has_slots() && !model_test_once(op); i++)
        rp_shared_tick((uint64_t)op->ticks);
}

static void model_collective(const struct model_op *op)
{
    struct model_rank *self = model_self();
    int comm = model_comm_of(op->peer, model.program->ranks);
    struct rp_det_operation what = {(uint32_t)op->kind, RP_DET_NO_ROOT, 0};

    if (op->kind != MODEL_IBARRIER) {
        struct rp_shared_collective *collective =
            rp_det_collective_enter(op->kind == MODEL_BARRIER ? RP_DET_SYNCHRONISES
                                                              : RP_DET_MAY_NOT,
                                    comm, what);
        model_real_barrier(comm);
        rp_det_collective_leave(collective);
        return;
    }
    int slot = model_free_slot();
    self->is_receive[slot] = false;
    struct rp_shared_collective *collective = rp_det_collective_begin(comm, what);
    self->slots[slot] = model_new_real(REAL_BARRIER);
    model_real_of(self->slots[slot])->comm = comm;
    model_real_of(self->slots[slot])->came = ++self->came[1][comm];
    rp_det_collective_begun(MPI_SUCCESS, collective, &self->slots[slot]);
}

static void model_cancel(const struct model_op *op)
{
    int slot = op->number % MODEL_SLOTS;

    if (model_self()->slots[slot] == 0 || !model_self()->is_receive[slot])
        return;
    rp_det_cancel(&model_self()->slots[slot]);
}

static void model_do(const struct model_op *op)
{
    rp_det.function = model_names[op->kind];
    rp_shared_tick((uint64_t)op->ticks);
    switch (op->kind) {
    case MODEL_COMPUTE:
        for (int i = 0; i < op->number; i++)
            rp_shared_tick(1);
        break;
    case MODEL_SEND:
    case MODEL_SSEND:
    case MODEL_ISSEND:
        model_send(op);
        break;
    case MODEL_RECV:
    case MODEL_IRECV:
        model_receive(op);
        break;
    case MODEL_PROBE:
    case MODEL_IPROBE:
        model_probe(op);
        break;
    case MODEL_TEST:
    case MODEL_TESTANY:
    case MODEL_TESTSOME:
    case MODEL_TESTALL:
        model_test(op);
        break;
    case MODEL_BARRIER:
    case MODEL_COLLECTIVE:
    case MODEL_IBARRIER:
        model_collective(op);
        break;
    case MODEL_CANCEL:
        model_cancel(op);
        break;
    default:
        model_wait(op);
    }
    model_add_fact('t', op->kind);
}

/* A rank's life. At its end it waits for what it began. */
static void model_live(void)
{
    int rank = model.now;
    struct model_op last = {.kind = MODEL_WAITALL, .ticks = 1};

    for (model_op_now[rank] = 0; model_op_now[rank] < model.program->counts[rank];
         model_op_now[rank]++)
        model_do(&model.program->ops[rank][model_op_now[rank]]);
    model_do(&last);
    model.result->clocks[rank] = rp_shared_now();
    rp_shared_finish();
    model_self()->end = MODEL_ENDED;
    for (;;)
        model_switch();
}

/* Runs */

static void model_open_comm(struct model_rank *r, int rank, int comm, uint64_t mask)
{
    struct rp_det_comm *c = &r->comms[comm];

    *c = (struct rp_det_comm){.comm = comm,
                              .id = (uint64_t)comm,
                              .world = r->world[comm],
                              .members = &r->members[comm]};
    r->members[comm] = mask;
    for (int i = 0; i < model.program->ranks; i++)
        if (mask >> i & 1) {
            if (i == rank)
                c->from = c->size;
            r->world[comm][c->size++] = (uint32_t)i;
        }
    c->member_count = (uint32_t)c->size;
}

/* What a rank and a leader have of the memory of their host. */
static void model_map(uint32_t rank, uint32_t host)
{
    uint32_t ranks = (uint32_t)model.program->ranks;

    lay_out(ranks);
    layout.common = (struct rp_shared_common *)model.memory[host];
    rp_shared = (struct rp_shared){.ranks = ranks,
                                   .room = ranks,
                                   .size = ranks,
                                   .rank = rank,
                                   .memory = model.memory[host],
                                   .latency = model.program->latency};
    if (model.hosts > 1)
        rp_shared_set_hosts(model.host_of, (uint32_t)model.hosts, host);
    rp_shared.all = (struct rp_shared_rank *)(model.memory[host] + layout.states);
    rp_shared.own = &rp_shared.all[rank];
    rp_shared.clock = rp_shared_clock_page(rank);
}

static void model_begin(struct model_rank *r, void (*function)(void))
{
    if (!r->stack)
        r->stack = malloc(MODEL_STACK);
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = r->stack;
    r->context.uc_stack.ss_size = MODEL_STACK;
    makecontext(&r->context, function, 0);
}

static void model_clear(struct model_rank *r)
{
    char *stack = r->stack;

    memset(r, 0, offsetof(struct model_rank, messages));
    memset(r->reals, 0, sizeof r->reals);
    memset(r->came, 0, sizeof r->came);
    memset(r->slots, 0, sizeof r->slots);
    r->message_count = r->sent = 0;
    r->stack = stack;
}

static void model_open_rank(int rank)
{
    struct model_rank *r = &model.ranks[rank];
    uint32_t ranks = (uint32_t)model.program->ranks;
    struct rp_problem why;

    model_clear(r);
    for (int mask = 1; mask < 1 << ranks; mask++)
        model_open_comm(r, rank, model_comm_of(mask, (int)ranks), (uint64_t)mask);
    model_load(rank);
    model_map((uint32_t)rank, model.host_of[rank]);
    rp_shared.own->version = 1;
    rp_shared.clock[RP_CLOCK_CALLS] = model.program->begin[rank];
    rp_shared_bounds_start(&why);
    rp_det_requests_start();
    rp_det_match_messages();
    model_begin(r, model_live);
}

static void model_lead(void)
{
    lead(NULL);
}

static void model_open_leader(int host)
{
    int sockets[MODEL_RANKS];
    struct rp_problem why;

    model_clear(&model.ranks[MODEL_RANKS + host]);
    model_load(MODEL_RANKS + host);
    model_map(0, (uint32_t)host);
    for (int i = 0; i < model.hosts; i++)
        sockets[i] = i == host ? -1 : i;
    rp_leader_start(sockets, &why);
    model_begin(&model.ranks[MODEL_RANKS + host], model_lead);
}

/* Its first part; collectives and messages are cleared when they are used. */
static void model_open_memory(int host)
{
    uint32_t ranks = (uint32_t)model.program->ranks;

    if (!model.memory[host]) {
        model.memory[host] = mmap(NULL, lay_out(MODEL_RANKS), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (model.memory[host] == MAP_FAILED)
            abort();
    }
    lay_out(ranks);
    memset(model.memory[host], 0, layout.collectives);
    struct rp_shared_common *common = (struct rp_shared_common *)model.memory[host];
    common->reported = 1; /* a rank that finds a deadlock only stops */
    common->ranks = ranks;
    common->jobs = 1;
    common->job[0].ranks = ranks;
    memset(&layout, 0, sizeof layout);
}

/* Who is on which host: every host has somebody. */
static void model_spread(void)
{
    static const unsigned delays[] = {0, 10, 100, 400};
    int ranks = model.program->ranks;

    model.hosts = model_random() % 2 ? 1 : 2 + (int)(model_random() % (unsigned)(ranks - 1));
    model.delay = delays[model_random() % 4];
    for (int i = 0; i < ranks; i++)
        model.host_of[i] =
            i < model.hosts ? (uint32_t)i : (uint32_t)(model_random() % (unsigned)model.hosts);
}

static void model_open(const struct model_program *program)
{
    rp_pmpi = model_mpi;
    rp_det.threshold = 65536;
    rp_det.buffer_bytes = 1 << 20;
    model.turns = 0;
    model.blocks.next = model.blocks.previous = &model.blocks;
    for (int i = 0; i < model.hosts; i++)
        model_open_memory(i);
    for (int i = 0; i < program->ranks; i++)
        model_open_rank(i);
    for (int i = 0; i < model.hosts && model.hosts > 1; i++)
        model_open_leader(i);
}

static void model_close_network(void)
{
    for (int i = 0; i < model.hosts && model.hosts > 1; i++) {
        model_load(MODEL_RANKS + i);
        for (int k = 0; k < model.hosts; k++) {
            rp_buffer_free(&rp_leader.peers[k].in);
            rp_buffer_free(&rp_leader.peers[k].out);
            rp_buffer_free(&model.links[i][k].bytes);
            model.links[i][k].read = 0;
        }
    }
}

static bool model_may_run(int rank)
{
    if (rank >= MODEL_RANKS)
        return model_is_awake(rank - MODEL_RANKS);
    return model.ranks[rank].end == MODEL_RUNS || model.ranks[rank].end == MODEL_DEADLOCK;
}

/* -1: all have ended. If it is `urgent`, all have their turn. */
static int model_choose(bool urgent)
{
    int may[MODEL_ALL], number = 0;

    for (int i = 0; i < model.program->ranks; i++)
        if (model_may_run(i))
            may[number++] = i;
    if (number == 0)
        return -1;
    for (int i = MODEL_RANKS; i < MODEL_RANKS + model.hosts && model.hosts > 1; i++)
        if (model_may_run(i))
            may[number++] = i;
    if (urgent)
        return may[model.turns % (unsigned)number];
    int chosen = may[model_random() % (unsigned)number];
    if (model.odd_one < 0 || !model_may_run(model.odd_one))
        return chosen;
    if (model.odd_times == 0)
        return model_random() % 8 != 0 ? model.odd_one : chosen;
    return chosen == model.odd_one && model_random() % model.odd_times != 0
               ? may[model_random() % (unsigned)number]
               : chosen;
}

/* All that go on know of a deadlock or are inside MPI, and have been for long: they wait for others
 * that never come. */
static bool model_is_stuck(unsigned *rounds)
{
    if (model.told != model.told_before)
        *rounds = 0;
    model.told_before = model.told;
    for (int i = 0; i < model.program->ranks; i++)
        if (model.ranks[i].end == MODEL_RUNS && !model.ranks[i].is_in_mpi) {
            *rounds = 0;
            return false;
        }
    if (!model_net_is_quiet())
        *rounds = 0;
    return ++*rounds > (model.hosts > 1

#endif
