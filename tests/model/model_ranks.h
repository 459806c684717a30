/* SPDX-License-Identifier: MIT */
/* Programs, the ranks that run them, whose turn it is, and the network between hosts. */
#ifndef MODEL_RANKS_H
#define MODEL_RANKS_H

#include "model_source.h"

/* Programs */

enum model_kind {
    MODEL_COMPUTE,
    MODEL_SEND,
    MODEL_SSEND,
    MODEL_ISSEND,
    MODEL_RECV,
    MODEL_IRECV,
    MODEL_PROBE,
    MODEL_IPROBE,
    MODEL_WAIT,
    MODEL_WAITANY,
    MODEL_WAITSOME,
    MODEL_WAITALL,
    MODEL_TEST,
    MODEL_TESTANY,
    MODEL_TESTSOME,
    MODEL_TESTALL,
    MODEL_BARRIER,    /* waits inside MPI if it can */
    MODEL_COLLECTIVE, /* does not */
    MODEL_IBARRIER,
    MODEL_CANCEL,
    MODEL_KINDS,
};

static const char *const model_names[] = {"compute", "send",       "ssend",    "issend",
                                          "recv",    "irecv",      "probe",    "iprobe",
                                          "wait",    "waitany",    "waitsome", "waitall",
                                          "test",    "testany",    "testsome", "testall",
                                          "barrier", "collective", "ibarrier", "cancel"};

struct model_op {
    enum model_kind kind;
    int peer, tag; /* also -1 for any; of collective calls, peer is a bit for each rank */
    int number;    /* ticks of computing; slot; polls */
    int ticks;     /* that the call takes */
};

struct model_program {
    int ranks;
    uint64_t latency;
    uint64_t begin[MODEL_RANKS]; /* clocks */
    struct model_op ops[MODEL_RANKS][MODEL_OPS];
    int counts[MODEL_RANKS];
};

struct model_fact {
    int op, what, value;
    uint64_t clock;
};

enum model_end { MODEL_RUNS, MODEL_ENDED, MODEL_DEADLOCK, MODEL_REFUSED };

struct model_result {
    struct model_fact facts[MODEL_RANKS][MODEL_FACTS];
    int counts[MODEL_RANKS];
    enum model_end ends[MODEL_RANKS];
    uint64_t clocks[MODEL_RANKS];
    bool hangs;      /* it did not come to an end */
    bool is_refused; /* a rank said that it cannot go on */
    bool mismatches; /* because collective calls do not match */
    bool is_wrong;   /* a rank went on of which it was said that it never does */
};

/* The stand-in for MPI */

struct model_message {
    int source, tag, comm, payload;
    bool is_matched, is_gone;
};

enum model_real_kind {
    REAL_FREE,
    REAL_RECEIVE,
    REAL_SEND,
    REAL_SYNCHRONOUS,
    REAL_STAND_IN,
    REAL_BARRIER
};

struct model_real {
    enum model_real_kind kind;
    int source, tag, comm;
    int *buffer;
    uint64_t number; /* of posts */
    bool is_done, is_cancelled;
    struct model_message *message;
    int came; /* of a barrier: how often this rank had */
};

/* What src/det keeps of one rank. */
struct model_statics {
    struct rp_shared rp_shared;
    __typeof__(layout) layout;
    __typeof__(own_messages) own_messages;
    __typeof__(others) others;
    __typeof__(posted) posted;
    __typeof__(requests) requests;
    __typeof__(matching) matching;
    __typeof__(copies) copies;
    __typeof__(waiting) waiting;
    struct rp_leader rp_leader;
    const char *function;
};

/* Calls `each` with the name of every one. */
#define MODEL_STATICS(each)                                                                        \
    each(rp_shared) each(layout) each(own_messages) each(others) each(posted) each(requests)       \
        each(matching) each(copies) each(waiting) each(rp_leader)

/* Or the leader of a host; of that, only the first few. */
struct model_rank {
    struct model_statics statics;
    ucontext_t context;
    jmp_buf place;
    bool has_begun;
    char *stack;
    enum model_end end;
    bool is_in_mpi;
    bool polls, is_endless, is_woken; /* a leader */
    uint64_t woken_from;              /* the turn at which it notices */
    struct rp_det_comm comms[MODEL_COMMS + 1];
    uint32_t world[MODEL_COMMS + 1][MODEL_RANKS];
    uint64_t members[MODEL_COMMS + 1];
    struct model_message messages[MODEL_MESSAGES]; /* to it */
    int message_count;
    struct model_real reals[MODEL_REALS];
    uint64_t real_posts;
    int came[2][MODEL_COMMS + 1]; /* to barriers, blocking or not */
    int sent;
    MPI_Request slots[MODEL_SLOTS];
    int buffers[MODEL_SLOTS];
    bool is_receive[MODEL_SLOTS];
};

struct model_block {
    struct model_block *next, *previous;
    size_t size;
};

static struct {
    const struct model_program *program;
    struct model_result *result;
    struct model_rank ranks[MODEL_ALL]; /* leaders are behind all ranks */
    int hosts;
    uint32_t host_of[MODEL_RANKS];
    struct model_link {
        struct rp_buffer bytes;
        size_t read;
        uint64_t from; /* the turn at which it may be read */
    } links[MODEL_RANKS][MODEL_RANKS];
    unsigned delay; /* turns, at most */
    int now;        /* that runs; -1: none */
    int loaded;     /* whose statics are in place */
    ucontext_t scheduler;
    jmp_buf place; /* of the scheduler */
    uint64_t seed;
    unsigned period;    /* of changes at points: one of so many; 0: none */
    int odd_one;        /* -1, or the rank that is treated otherwise: */
    unsigned odd_times; /* the others are so many times as likely; 0: it goes first */
    uint64_t turns, told, told_before; /* facts */
    struct model_block blocks;
    char *memory[MODEL_RANKS]; /* of each host */
} model = {.now = -1, .loaded = -1};

struct rp_next rp_pmpi;
struct rp_constants rp_constant;
struct rp_det rp_det;
__thread int rp_det_is_owner;

static struct model_rank *model_self(void)
{
    return &model.ranks[model.now];
}

static uint64_t model_random(void)
{
    uint64_t z = model.seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Memory of a run */

static void *model_allocate(size_t size)
{
    struct model_block *block = calloc(1, sizeof *block + size);

    if (!block)
        abort();
    block->size = size;
    block->next = model.blocks.next;
    block->previous = &model.blocks;
    block->next->previous = block->previous->next = block;
    return block + 1;
}

static void model_free(void *memory)
{
    struct model_block *block = memory ? (struct model_block *)memory - 1 : NULL;

    if (!block)
        return;
    block->next->previous = block->previous;
    block->previous->next = block->next;
    free(block);
}

static void *model_reallocate(void *old, size_t size)
{
    void *memory = model_allocate(size);

    if (old)
        memcpy(memory, old, ((struct model_block *)old - 1)->size);
    model_free(old);
    return memory;
}

static void model_free_all(void)
{
    while (model.blocks.next != &model.blocks)
        model_free(model.blocks.next + 1);
}

/* Who goes on */

/* A rank begins by swapcontext and then goes on by longjmp, which needs no system call; under
 * AddressSanitizer, which follows only the first, always by that. */
#if defined(__SANITIZE_ADDRESS__)
#define MODEL_JUMPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MODEL_JUMPS 0
#endif
#endif
#ifndef MODEL_JUMPS
#define MODEL_JUMPS 1
#endif

static void model_switch(void)
{
    struct model_rank *self = model_self();

    if (!MODEL_JUMPS)
        swapcontext(&self->context, &model.scheduler);
    else if (_setjmp(self->place) == 0)
        _longjmp(model.place, 1);
}

static void model_resume(struct model_rank *rank)
{
    if (!MODEL_JUMPS) {
        swapcontext(&model.scheduler, &rank->context);
    } else if (_setjmp(model.place) == 0) {
        if (rank->has_begun)
            _longjmp(rank->place, 1);
        rank->has_begun = true;
        setcontext(&rank->context);
    }
}

static void model_point(void)
{
    if (model.now >= 0 && model.period > 0 && model_random() % model.period == 0)
        model_switch();
}

static void model_idle(void)
{
    if (model.now >= 0)
        model_switch();
}

/* It is one of those that never go on, or has looked at all before it went inside MPI, and found
 * some. */
static void model_dead(void)
{
    bool is_its_own = others.bounds[model.now] == RP_SEND_NEVER;

    for (int i = 0; i < model.program->ranks; i++)
        if (is_its_own ? i == model.now
                       : others.bounds[i] == RP_SEND_NEVER && model.ranks[i].end == MODEL_RUNS)
            model.ranks[i].end = MODEL_DEADLOCK;
}

static void model_load(int rank)
{
    struct model_statics *one = model.loaded >= 0 ? &model.ranks[model.loaded].statics : NULL;

    if (model.loaded == rank)
        return;
#define MODEL_SAVE(name) one->name = name;
#define MODEL_RESTORE(name) name = one->name;
    if (one) {
        MODEL_STATICS(MODEL_SAVE)
        one->function = rp_det.function;
    }
    model.loaded = rank;
    if (rank < 0)
        return;
    one = &model.ranks[rank].statics;
    MODEL_STATICS(MODEL_RESTORE)
    if (!copies.first)
        copies.last = &copies.first;
    rp_det.function = one->function;
}

/* Between hosts */

static int model_host_now(void)
{
    return model.now < MODEL_RANKS ? (int)model.host_of[model.now] : model.now - MODEL_RANKS;
}

static bool model_has_come(const struct model_link *link)
{
    return link->read < link->bytes.length && model.turns >= link->from;
}

static void model_delay_link(struct model_link *link)
{
    link->from = model.turns + model_random() % (model.delay + 1);
}

static size_t model_some(size_t most)
{
    return model_random() % 2 ? most : 1 + model_random() % most;
}

static ssize_t model_net_send(int host, const void *bytes, size_t length)
{
    struct model_link *link = &model.links[model_host_now()][host];

    errno = EAGAIN;
    if (model_random() % 8 == 0)
        return -1;
    if (link->read == link->bytes.length)
        model_delay_link(link);
    length = model_some(length);
    rp_buffer_put(&link->bytes, bytes, length);
    return (ssize_t)length;
}

static ssize_t model_net_recv(int host, void *bytes, size_t room)
{
    struct model_link *link = &model.links[host][model_host_now()];
    size_t left = link->bytes.length - link->read;

    errno = EAGAIN;
    if (!model_has_come(link))
        return -1;
    size_t length = model_some(left < room ? left : room);
    memcpy(bytes, link->bytes.bytes + link->read, length);
    link->read += length;
    model_delay_link(link);
    return (ssize_t)length;
}

static void model_net_poll(struct pollfd *polled, const struct timespec *timeout)
{
    struct model_rank *self = model_self();
    int host = model_host_now();

    self->is_endless = !timeout;
    for (int i = 0; i < model.hosts; i++)
        self->is_endless &= !(polled[i].events & POLLOUT);
    self->polls = true;
    model_switch();
    self->polls = false;
    for (int i = 0; i < model.hosts; i++)
        polled[i].revents = model_has_come(&model.links[i][host]) ? POLLIN : 0;
    polled[model.hosts].revents = self->is_woken ? POLLIN : 0;
}

static ssize_t model_wake(void)
{
    struct model_rank *r = &model.ranks[MODEL_RANKS + model_host_now()];

    if (!r->is_woken)
        r->woken_from = model.turns + model_random() % (8 * model.delay + 1);
    r->is_woken = true;
    return 1;
}

static ssize_t model_drain(void)
{
    bool was = model_self()->is_woken;

    model_self()->is_woken = false;
    return was;
}

/* Whether a leader does not sleep. */
static bool model_is_awake(int host)
{
    const struct model_rank *r = &model.ranks[MODEL_RANKS + host];

    if (!r->polls || !r->is_endless || (r->is_woken && model.turns >= r->woken_from))
        return true;
    for (int i = 0; i < model.hosts; i++)
        if (model_has_come(&model.links[i][host]))
            return true;
    return false;
}

static bool model_net_is_quiet(void)
{
    for (int i = 0; i < model.hosts; i++)
        for (int k = 0; k < model.hosts; k++)
            if (model.links[i][k].read < model.links[i][k].bytes.length)
                return false;
    return true;
}

#endif
