/* SPDX-License-Identifier: MIT */
/*
 * Ranks in one process, to run the code of src/det itself, without MPI, in as many orders as we
 * like. Each rank is a coroutine; what the code keeps in static variables is exchanged when another
 * rank goes on. Ranks may change at every atomic access to shared memory, and must wherever the
 * code waits. MPI is a stand-in that delivers at once.
 *
 * An order also says how many hosts there are, who is where, and how slow the network is. Each host
 * has memory of its own; its leader (hosts.c) is one more coroutine, which sleeps where the real
 * one would. What is sent to another host comes in order, but in any pieces, and as late as it
 * likes.
 *
 * A program is made from bytes (model_make), an order from a seed (model_run). What a rank sees
 * (matches, payloads, answers, and its clock after every operation) is a list of facts. All orders
 * of one program must give the same.
 *
 * Not modelled: memory that is seen in another order than it was written, messages of MPI that are
 * slower than their notes.
 */
#ifndef DET_MODEL_H
#define DET_MODEL_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    MODEL_RANKS = 5,
    MODEL_OPS = 32,
    MODEL_SLOTS = 6,
    MODEL_FACTS = 512,
    MODEL_COMMS = 64,
    MODEL_LETTERS = 256,
    MODEL_REALS = 64,
    MODEL_STACK = 256 * 1024,
    MODEL_ALL = 2 * MODEL_RANKS
};

static void model_point(void); /* another rank may go on here */
static void model_idle(void);  /* another one should */
static void model_dead(void);  /* it has found a deadlock; in a model others may go on, so that all
                                  must still look after their inboxes */
static void *model_allocate(size_t size);
static void *model_reallocate(void *old, size_t size);
static void model_free(void *memory);
static ssize_t model_net_send(int host, const void *bytes, size_t length);
static ssize_t model_net_recv(int host, void *bytes, size_t room);
static void model_net_poll(struct pollfd *polled, const struct timespec *timeout);
static ssize_t model_wake(void);  /* the leader of our host */
static ssize_t model_drain(void); /* what woke it */

/* What src/det uses, so that ranks can change there, and nothing is left of a run that ends in a
 * deadlock. */

#include "../../src/base/futex_wait.h"

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_or
#undef atomic_compare_exchange_weak
#define atomic_load(place) (model_point(), *(place))
#define atomic_load_explicit(place, order) (model_point(), *(place))
#define atomic_store(place, value) (model_point(), (void)(*(place) = (value)))
#define atomic_store_explicit(place, value, order) (model_point(), (void)(*(place) = (value)))
#define atomic_exchange(place, value)                                                              \
    __extension__({                                                                                \
        model_point();                                                                             \
        uint64_t model_was = *(place);                                                             \
        *(place) = (value);                                                                        \
        model_was;                                                                                 \
    })
#define atomic_exchange_explicit(place, value, order) atomic_exchange(place, value)
#define atomic_fetch_add(place, value)                                                             \
    __extension__({                                                                                \
        model_point();                                                                             \
        uint64_t model_was = *(place);                                                             \
        *(place) += (value);                                                                       \
        model_was;                                                                                 \
    })
#define atomic_fetch_or(place, value) (model_point(), (void)(*(place) |= (value)))
#define atomic_compare_exchange_weak(place, expected, value)                                       \
    __extension__({                                                                                \
        model_point();                                                                             \
        bool model_same = *(place) == *(expected);                                                 \
        if (model_same)                                                                            \
            *(place) = (value);                                                                    \
        else                                                                                       \
            *(expected) = *(place);                                                                \
        model_same;                                                                                \
    })
#define sched_yield() model_idle()
#define nanosleep(pause, left) ((void)(pause), model_idle())
#define rp_futex_sleep(bell, heard, microseconds)                                                  \
    ((void)(heard), (void)(microseconds), rp_futex_stop_listening(bell), model_idle())
#define sleep(seconds) model_dead()
#define _exit(status) return
#define malloc(size) model_allocate(size)
#define calloc(number, size) model_allocate((number) * (size))
#define realloc(old, size) model_reallocate(old, size)
#define free(memory) model_free(memory)

#define write(fd, bytes, size) model_wake()

#include "../../src/preload/requests.c"
#include "../../src/det/shared_state.c"
#include "../../src/det/shared_collectives.c"
#include "../../src/det/shared_bounds.c"
#define table model_lines
#include "../../src/det/det_posted.c"
#undef table
#define put_back put_back_note
#include "../../src/det/det_receives.c"
#undef put_back
#undef earliest
#define earliest earliest_completion
#undef wait_for
#define wait_for wait_for_request
#include "../../src/det/det_wait.c"
#include "../../src/det/det_calls.c"
#define look_at_meeting look_at_meeting_request
#include "../../src/det/det_requests.c"
#undef look_at_meeting
#include "../../src/det/det_completion.c"
#undef earliest
#undef wait_for
#define is_taken is_taken_from_us
#include "../../src/det/det_sends.c"
#undef is_taken
#include "../../src/det/det_collectives.c"
#undef _exit
#define _exit(status) abort()
#define find find_state
#define send(host, bytes, length, flags) model_net_send(host, bytes, length)
#define recv(host, bytes, room, flags) model_net_recv(host, bytes, room)
#define ppoll(polled, number, timeout, mask) model_net_poll(polled, timeout)
#define read(fd, bytes, size) ((void)(bytes), model_drain())
#define prctl(...) ((void)0)
#define pthread_create(thread, attributes, function, data) ((void)(function), 0)
#define pthread_join(...) ((void)0)
#define pthread_sigmask(how, set, old) ((void)(set), (void)(old))
#include "../../src/det/hosts.c"
#undef pthread_sigmask
#undef pthread_join
#undef pthread_create
#undef prctl
#undef read
#undef ppoll
#undef recv
#undef send
#undef find

#undef write
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef sleep
#undef _exit
#undef nanosleep
#undef rp_futex_sleep
#undef sched_yield

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

struct model_letter {
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
    struct model_letter *letter;
    int came; /* of a barrier: how often this rank had */
};

/* What src/det keeps of one rank. */
struct model_statics {
    struct rp_shared_side rp_shared_side;
    __typeof__(side) side;
    __typeof__(others) others;
    __typeof__(all) all;
    struct rp_det_line *lines[LINES], *delayed_lines;
    uint64_t count, posts;
    struct rp_requests table;
    __typeof__(stand_ins) stand_ins;
    const char *function;
    const struct rp_det_wait *waiting;
    __typeof__(leader) leader;
    struct copy *copies, **last;
    uint64_t copied;
};

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
    struct model_letter letters[MODEL_LETTERS]; /* to it */
    int letter_count;
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
    struct model_statics *from;

    if (model.loaded == rank)
        return;
    if (model.loaded >= 0) {
        struct model_statics *to = &model.ranks[model.loaded].statics;
        to->rp_shared_side = rp_shared_side;
        to->side = side;
        to->others = others;
        to->all = all;
        memcpy(to->lines, model_lines, sizeof model_lines);
        to->delayed_lines = delayed_lines;
        to->count = count;
        to->posts = posts;
        to->table = table;
        to->stand_ins = stand_ins;
        to->function = rp_det.function;
        to->waiting = waiting;
        to->leader = leader;
        to->copies = copies;
        to->last = last;
        to->copied = copied;
    }
    model.loaded = rank;
    if (rank < 0)
        return;
    from = &model.ranks[rank].statics;
    rp_shared_side = from->rp_shared_side;
    side = from->side;
    others = from->others;
    all = from->all;
    memcpy(model_lines, from->lines, sizeof model_lines);
    delayed_lines = from->delayed_lines;
    count = from->count;
    posts = from->posts;
    table = from->table;
    stand_ins = from->stand_ins;
    rp_det.function = from->function;
    waiting = from->waiting;
    leader = from->leader;
    copies = from->copies;
    last = copies ? from->last : &copies;
    copied = from->copied;
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

/* What the rest of src/det would do */

struct rp_det_comm *rp_det_comm_find(MPI_Comm comm)
{
    return comm > 0 && comm <= MODEL_COMMS ? &model_self()->comms[comm] : NULL;
}

void rp_det_comm_made_later(MPI_Comm made, uint64_t id)
{
    (void)made, (void)id;
}

uint64_t rp_det_comm_later(MPI_Comm parent)
{
    (void)parent;
    return 0;
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

void rp_det_status_waits(const struct rp_det_wait *wait)
{
    (void)wait;
}

void rp_det_status_goes_on(void)
{
}

void rp_det_tell_wait(const struct rp_det_wait *wait)
{
    (void)wait;
}

void rp_det_tell_comm(const struct rp_det_comm *comm)
{
    (void)comm;
}

void rp_det_say_deadlock(void)
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
    const struct rp_shared_collective *meeting = rp_shared_mismatch();

    if (!meeting)
        return;
    model.result->mismatches = meeting->first.rank != meeting->other.rank &&
                               meeting->first.function != meeting->other.function;
    rp_det_refuse("a collective call");
}

/* Programs of the model are right in this. */
void rp_det_say_stale(const char *became, uint32_t site)
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

static void model_tell(int what, int value)
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

void rp_det_note(enum rp_det_decision decision, uint64_t a, uint64_t b)
{
    model_tell(decision == RP_DET_MATCH ? 'm' : 'a', (int)(a * 1000 + (b & 255)));
}

/* MPI: letters are delivered at once, receives are matched in the order in which they were
 * posted. */

static bool model_fits(const struct model_real *real, const struct model_letter *letter)
{
    return real->comm == letter->comm &&
           (real->source == MPI_ANY_SOURCE || real->source == letter->source) &&
           (real->tag == MPI_ANY_TAG || real->tag == letter->tag);
}

static void model_give(struct model_real *real, struct model_letter *letter)
{
    letter->is_matched = true;
    real->letter = letter;
    real->is_done = true;
    *real->buffer = letter->payload;
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

static struct model_letter *model_post_letter(const void *buf, int dest, int tag, MPI_Comm comm)
{
    struct model_rank *to = &model.ranks[dest];
    struct model_letter *letter = &to->letters[to->letter_count];
    struct model_real *first = NULL;

    if (to->letter_count++ == MODEL_LETTERS)
        abort();
    *letter = (struct model_letter){.source = model.now,
                                    .tag = tag,
                                    .comm = comm,
                                    .payload = *(const int *)buf};
    for (int i = 0; i < MODEL_REALS; i++) {
        struct model_real *real = &to->reals[i];
        if (real->kind == REAL_RECEIVE && !real->is_done && model_fits(real, letter) &&
            (!first || real->number < first->number))
            first = real;
    }
    if (first)
        model_give(first, letter);
    return letter;
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
    model_real_of(*request)->letter = model_post_letter(buf, dest, tag, comm);
    return MPI_SUCCESS;
}

static struct model_letter *model_first_letter(const struct model_real *real)
{
    struct model_rank *self = model_self();

    for (int i = 0; i < self->letter_count; i++)
        if (!self->letters[i].is_matched && model_fits(real, &self->letters[i]))
            return &self->letters[i];
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
    struct model_letter *letter = model_first_letter(real);
    if (letter)
        model_give(real, letter);
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
        return real->letter->is_matched;
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
        *status = (MPI_Status){real->letter ? real->letter->source : -1,
                               real->letter ? real->letter->tag : -1, 0, real->is_cancelled};
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

    while (!(real.letter = model_first_letter(&real)))
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

/* Operations */

enum { MODEL_WORLD = 1, MODEL_TYPE = 1 };

static int model_comm_of(int mask, int ranks)
{
    return mask == (1 << ranks) - 1 ? MODEL_WORLD : 2 + mask;
}

static void model_tell_receive(const MPI_Status *status, int payload)
{
    model_tell('r', status->is_cancelled ? -1 : status->MPI_SOURCE * 100 + status->MPI_TAG);
    if (!status->is_cancelled)
        model_tell('p', payload);
}

static void model_completed(int slot, const MPI_Status *status)
{
    model_tell('c', slot);
    if (model_self()->is_receive[slot])
        model_tell_receive(status, model_self()->buffers[slot]);
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
        model_tell_receive(&status, payload);
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
        model_tell('f', flag);
    }
    if (flag)
        model_tell('s', status.MPI_SOURCE * 100 + status.MPI_TAG);
}

static void model_completed_some(int found, const int *indices, const MPI_Status *statuses)
{
    model_tell('n', found);
    for (int i = 0; i < found; i++)
        model_completed(indices[i], &statuses[i]);
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
        rp_det_waitall(MODEL_SLOTS, slots, statuses);
        for (int i = 0; i < MODEL_SLOTS; i++)
            if (was[i])
                model_completed(i, &statuses[i]);
    } else if (op->kind == MODEL_WAITANY && model_has_slots()) {
        rp_det_waitany(MODEL_SLOTS, slots, indices, statuses);
        model_completed(indices[0], statuses);
    } else if (op->kind == MODEL_WAITSOME && model_has_slots()) {
        rp_det_waitsome(MODEL_SLOTS, slots, &found, indices, statuses);
        model_completed_some(found, indices, statuses);
    }
}

static bool model_test_once(const struct model_op *op)
{
    MPI_Status statuses[MODEL_SLOTS] = {0};
    MPI_Request *slots = model_self()->slots;
    int indices[MODEL_SLOTS], flag = 0, slot = op->number / 8 % MODEL_SLOTS;

    if (op->kind == MODEL_TEST && slots[slot] != 0) {
        rp_det_test(&slots[slot], &flag, statuses);
        if (flag)
            model_completed(slot, statuses);
    } else if (op->kind == MODEL_TESTANY) {
        rp_det_testany(MODEL_SLOTS, slots, indices, &flag, statuses);
        if (flag)
            model_completed(indices[0], statuses);
    } else if (op->kind == MODEL_TESTSOME) {
        rp_det_testsome(MODEL_SLOTS, slots, &flag, indices, statuses);
        model_completed_some(flag, indices, statuses);
    } else if (op->kind == MODEL_TESTALL) {
        bool was[MODEL_SLOTS];
        for (int i = 0; i < MODEL_SLOTS; i++)
            was[i] = slots[i] != 0;
        rp_det_testall(MODEL_SLOTS, slots, &flag, statuses);
        for (int i = 0; flag && i < MODEL_SLOTS; i++)
            if (was[i])
                model_completed(i, &statuses[i]);
    }
    model_tell('f', flag);
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
    struct rp_det_what what = {(uint32_t)op->kind, RP_DET_NO_ROOT, 0};

    if (op->kind != MODEL_IBARRIER) {
        struct rp_shared_collective *meeting =
            rp_det_meet(op->kind == MODEL_BARRIER ? RP_DET_SYNCHRONISES : RP_DET_MAY_NOT, comm,
                        what);
        model_real_barrier(comm);
        rp_det_met(meeting);
        return;
    }
    int slot = model_free_slot();
    self->is_receive[slot] = false;
    struct rp_shared_collective *meeting = rp_det_begin_meeting(comm, what);
    self->slots[slot] = model_new_real(REAL_BARRIER);
    model_real_of(self->slots[slot])->comm = comm;
    model_real_of(self->slots[slot])->came = ++self->came[1][comm];
    rp_det_began(MPI_SUCCESS, meeting, &self->slots[slot]);
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
    model_tell('t', op->kind);
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
    side.shared = (struct rp_shared_shared *)model.memory[host];
    side.end = side.notes + rank * NOTES_ROOM;
    rp_shared_side = (struct rp_shared_side){.ranks = ranks,
                                             .rank = rank,
                                             .memory = model.memory[host],
                                             .latency = model.program->latency};
    if (model.hosts > 1)
        rp_shared_spread(model.host_of, (uint32_t)model.hosts, host);
    rp_shared_side.all = (struct rp_shared_rank *)(model.memory[host] + side.states);
    rp_shared_side.own = &rp_shared_side.all[rank];
    rp_shared_side.clock = clock_page(rank);
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

    memset(r, 0, offsetof(struct model_rank, letters));
    memset(r->reals, 0, sizeof r->reals);
    memset(r->came, 0, sizeof r->came);
    memset(r->slots, 0, sizeof r->slots);
    r->letter_count = r->sent = 0;
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
    rp_shared_side.own->version = 1;
    rp_shared_side.clock[1] = model.program->begin[rank];
    rp_shared_bounds_start(&why);
    rp_det_requests_start();
    rp_det_receive_mail();
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
    rp_hosts_start(sockets, &why);
    model_begin(&model.ranks[MODEL_RANKS + host], model_lead);
}

/* Its first part; meetings and notes are cleared when they are used. */
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
    memset(model.memory[host], 0, side.meetings);
    ((struct rp_shared_shared *)model.memory[host])->reported =
        1; /* a rank that finds a deadlock only stops */
    memset(&side, 0, sizeof side);
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
    rp_det.limit = 1 << 20;
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
            rp_buffer_free(&leader.peers[k].in);
            rp_buffer_free(&leader.peers[k].out);
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
                            ? 4000
                            : 8 * MODEL_RANKS); /* a leader takes many turns to look at its ranks */
}

/* Where everyone is, if a run does not come to an end. */
static void model_print_states(void)
{
    static const char *const waits[] = {"message", "any", "taker", "meeting", "deaf"};

    for (int i = 0; i < model.program->ranks; i++) {
        model_load(i);
        const struct rp_shared_rank *state = rp_shared_side.own;
        printf("  rank %d in operation %d at %llu, version %llu: %s, target %u, candidate %lld, "
               "inbox %s%s\n",
               i, model_op_now[i], (unsigned long long)rp_shared_clock_of((uint32_t)i),
               (unsigned long long)state->version, waits[state->wait], state->target,
               (long long)state->candidate, state->inbox ? "full" : "empty",
               model.ranks[i].is_in_mpi ? ", in MPI" : "");
    }
}

static void model_schedule(void)
{
    enum { MOST_TURNS = 4000000 };
    unsigned rounds = 0;
    int rank;

    for (; (rank = model_choose(rounds > 0)) >= 0 && !model_is_stuck(&rounds); model.turns++) {
        if (model.turns == MOST_TURNS) {
            model.result->hangs = true;
            model_print_states();
            return;
        }
        model_load(rank);
        model.now = rank;
        model_resume(&model.ranks[rank]);
        model.now = -1;
        if (model.ranks[rank].end == MODEL_REFUSED)
            return;
    }
}

/* An order of steps: who goes on, and how often that changes, by a seed. */
static void model_run(const struct model_program *program, uint64_t seed,
                      struct model_result *result)
{
    static const unsigned periods[] = {0, 2, 4, 16, 64};

    memset(result->counts, 0, sizeof result->counts);
    result->hangs = result->is_refused = result->mismatches = result->is_wrong = false;
    model.result = result;
    model.now = -1;
    model.program = program;
    model.seed = seed;
    model_spread();
    model_open(program);
    model.period = periods[model_random() % 5];
    model.odd_one = model_random() % 2 ? (int)(model_random() % (unsigned)program->ranks) : -1;
    if (model.odd_one >= 0 && model.hosts > 1 && model_random() % 2)
        model.odd_one = MODEL_RANKS + (int)(model_random() % (unsigned)model.hosts);
    model.odd_times = model_random() % 2 ? 0 : 1u << model_random() % 7;
    model_schedule();
    for (int i = 0; i < program->ranks; i++) {
        model_load(i);
        result->ends[i] = model.ranks[i].end == MODEL_RUNS
                              ? MODEL_DEADLOCK
                              : model.ranks[i].end; /* some wait inside MPI, and cannot say so */
        result->is_refused |= result->ends[i] == MODEL_REFUSED;
        if (result->ends[i] != MODEL_ENDED)
            result->clocks[i] = rp_shared_now();
    }
    model_close_network();
    model_load(-1);
    memset(&all, 0, sizeof all);
    model_free_all();
}

/* -1: the same. Else the rank in which they first differ. */
static int model_compare(const struct model_program *program, const struct model_result *one,
                         const struct model_result *other, int *fact)
{
    for (int i = 0; i < program->ranks; i++) {
        int least = one->counts[i] < other->counts[i] ? one->counts[i] : other->counts[i];
        for (*fact = 0; *fact < least; ++*fact) {
            const struct model_fact *a = &one->facts[i][*fact], *b = &other->facts[i][*fact];
            if (a->op != b->op || a->what != b->what || a->value != b->value ||
                a->clock != b->clock)
                return i;
        }
        if (one->counts[i] != other->counts[i] || one->ends[i] != other->ends[i] ||
            one->clocks[i] != other->clocks[i])
            return i;
    }
    return -1;
}

/* Programs from bytes */

struct model_bytes {
    const uint8_t *at, *end;
};

static unsigned model_byte(struct model_bytes *bytes, unsigned limit)
{
    return bytes->at < bytes->end ? *bytes->at++ % limit : 0;
}

static struct model_op *model_add(struct model_program *program, int rank, enum model_kind kind,
                                  int peer, int tag, int number, int ticks)
{
    static struct model_op none;

    if (program->counts[rank] == MODEL_OPS)
        return &none;
    struct model_op *op = &program->ops[rank][program->counts[rank]++];
    *op = (struct model_op){kind, peer, tag, number, ticks};
    return op;
}

/* A message, and a receive that may take it. */
static void model_add_message(struct model_program *program, struct model_bytes *bytes)
{
    static const enum model_kind sends[] = {MODEL_SEND,  MODEL_SEND,   MODEL_SEND,
                                            MODEL_SSEND, MODEL_ISSEND, MODEL_ISSEND};
    static const enum model_kind receives[] = {MODEL_RECV,  MODEL_RECV,  MODEL_IRECV, MODEL_IRECV,
                                               MODEL_IRECV, MODEL_PROBE, MODEL_IPROBE};
    int ranks = program->ranks;
    int from = (int)model_byte(bytes, (unsigned)ranks),
        to = (int)((unsigned)from + 1 + model_byte(bytes, (unsigned)ranks - 1)) % ranks;
    int tag = (int)model_byte(bytes, 2), wild = (int)model_byte(bytes, 8),
        ticks = 1 + (int)model_byte(bytes, 3);
    enum model_kind send = sends[model_byte(bytes, 6)], receive = receives[model_byte(bytes, 7)];
    int source = wild & 3 ? -1 : from, its_tag = wild & 4 ? tag : -1;

    if (wild == 3) /* the receive is posted later */
        model_add(program, to, MODEL_COMPUTE, 0, 0, ticks * 5, 1);
    model_add(program, from, send, to, tag, 0, ticks);
    if (receive == MODEL_PROBE || receive == MODEL_IPROBE)
        model_add(program, to, receive, source, its_tag, 1 + wild, ticks);
    model_add(program, to, receive == MODEL_IRECV ? MODEL_IRECV : MODEL_RECV, source, its_tag, 0,
              ticks);
}

static void model_add_collective(struct model_program *program, struct model_bytes *bytes,
                                 enum model_kind kind)
{
    unsigned mask = 1 + model_byte(bytes, (1u << program->ranks) - 1);

    for (int i = 0; i < program->ranks; i++)
        if (mask >> i & 1)
            model_add(program, i, kind, (int)mask, 0, 0, 1 + (int)model_byte(bytes, 2));
}

/* A call that nobody may answer. */
static void model_add_alone(struct model_program *program, struct model_bytes *bytes, int rank)
{
    static const enum model_kind kinds[] = {MODEL_SEND, MODEL_IRECV, MODEL_RECV, MODEL_IPROBE,
                                            MODEL_ISSEND};
    enum model_kind kind = kinds[model_byte(bytes, 5)];
    int peer = (int)model_byte(bytes, (unsigned)program->ranks),
        tag = (int)model_byte(bytes, 3) - 1;
    bool sends = kind == MODEL_SEND || kind == MODEL_ISSEND;

    model_add(program, rank, kind,
              sends          ? peer
              : peer == rank ? -1
                             : peer,
              sends && tag < 0 ? 0 : tag, 1 + (int)model_byte(bytes, 4), 1);
}

static void model_add_something(struct model_program *program, struct model_bytes *bytes,
                                bool cancels)
{
    static const enum model_kind kinds[] = {MODEL_WAITANY, MODEL_WAITANY,  MODEL_WAITSOME,
                                            MODEL_WAIT,    MODEL_TEST,     MODEL_TEST,
                                            MODEL_TESTANY, MODEL_TESTSOME, MODEL_TESTALL,
                                            MODEL_WAITALL};
    unsigned choice = model_byte(bytes, 32);
    int rank = (int)model_byte(bytes, (unsigned)program->ranks);

    if (choice < 16)
        model_add_message(program, bytes);
    else if (choice < 18)
        model_add(program, rank, MODEL_COMPUTE, 0, 0, (int)model_byte(bytes, 24), 1);
    else if (choice < 27)
        model_add(program, rank, kinds[model_byte(bytes, 10)], 0, 0, (int)model_byte(bytes, 48),
                  1 + (int)model_byte(bytes, 3));
    else if (choice < 30)
        model_add_collective(program, bytes,
                             choice == 27   ? MODEL_BARRIER
                             : choice == 28 ? MODEL_COLLECTIVE
                                            : MODEL_IBARRIER);
    else if (choice == 30 || !cancels)
        model_add_alone(program, bytes, rank);
    else
        model_add(program, rank, MODEL_CANCEL, 0, 0, (int)model_byte(bytes, MODEL_SLOTS), 1);
}

static void model_make(struct model_program *program, struct model_bytes *bytes, bool cancels)
{
    memset(program, 0, sizeof *program);
    program->ranks = 2 + (int)model_byte(bytes, MODEL_RANKS - 1);
    program->latency = 1 + model_byte(bytes, 8);
    for (int i = 0; i < program->ranks; i++)
        program->begin[i] = 1 + model_byte(bytes, 6);
    unsigned number = 2 + model_byte(bytes, 24);
    for (unsigned i = 0; i < number && bytes->at < bytes->end; i++)
        model_add_something(program, bytes, cancels);
}

/* For people */

static void model_print(const struct model_program *program)
{
    printf("latency %llu\n", (unsigned long long)program->latency);
    for (int i = 0; i < program->ranks; i++) {
        printf("  rank %d from %llu:", i, (unsigned long long)program->begin[i]);
        for (int k = 0; k < program->counts[i]; k++) {
            const struct model_op *op = &program->ops[i][k];
            printf(" %s(%d,%d,%d)+%d", model_names[op->kind], op->peer, op->tag, op->number,
                   op->ticks);
        }
        printf("\n");
    }
}

static void model_print_result(const struct model_result *result, int rank)
{
    static const char *const ends[] = {"runs", "ended", "deadlock", "refused"};

    printf("  rank %d %s at %llu:", rank, ends[result->ends[rank]],
           (unsigned long long)result->clocks[rank]);
    for (int i = 0; i < result->counts[rank]; i++) {
        const struct model_fact *fact = &result->facts[rank][i];
        printf(" %d%c%d@%llu", fact->op, fact->what, fact->value, (unsigned long long)fact->clock);
    }
    printf("\n");
}

#endif
