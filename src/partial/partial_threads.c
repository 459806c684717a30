/* SPDX-License-Identifier: MIT */
/*
 * The log of turns is in memory while a rank is fed: each thread must know its next entry while
 * others still have theirs before it. No thread waits in vain: whatever a turn needs was done
 * before it in the record. At the end of its entries a thread waits like one that was in its last
 * call when the recorded process ended.
 */
#include "partial/partial_threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"

enum { NONE = UINT32_MAX, LOCKS = 2000 };

struct turn {
    const char *name;
    uint32_t thread; /* its place in turns.threads */
    uint32_t nos;    /* polls of this thread that were answered no before it */
    uint32_t next;   /* of the same thread */
};

struct thread {
    int32_t number;
    uint64_t identity;
    uint32_t first, last; /* turns */
};

static struct {
    char *directory;
    uint64_t run;
    uint32_t rank, ranks;
    struct rp_data_writer *writer;
    const char *locks[64]; /* recording: names of functions that take locks */
    struct rp_data_reader *reader;
    struct turn *turn;
    uint32_t count, room, front;
    struct thread *threads;
    uint32_t thread_count;
    bool is_over; /* the rank ends */
} turns;

/* A thread's own. */
static __thread struct {
    bool is_in;    /* its calls are recorded or fed */
    bool is_known; /* it has a number */
    int waits, asks;
    int32_t number; /* feeding: -1: the record does not have it */
    uint32_t next;  /* feeding: its next turn */
    uint64_t nos, calls;
    uintptr_t place, stack; /* of its call */
    unsigned tries;
} own = {.number = -1, .next = NONE};

/* Who waits, for idle_since. */
struct waiter {
    int thread;
    struct waiter *next;
};
static struct waiter *waiters;

/* Threads */

bool rp_threads_passes(void)
{
    if (!rp_partial.has_threads)
        return rp_data_off != 0;
    if (turns.is_over)
        return true;
    if (!own.is_in && reprise_threads_follow && reprise_threads_follow()) {
        own.is_in = true;
        rp_data_off = 0;
    }
    return rp_data_off != 0;
}

void rp_threads_enter(uintptr_t place, uintptr_t stack)
{
    own.place = place;
    own.stack = stack;
    reprise_threads_lock();
}

bool rp_threads_open(void)
{
    if (reprise_threads_held() != 1)
        return false;
    reprise_threads_unlock();
    return true;
}

void rp_threads_stay(void)
{
    for (unsigned held = reprise_threads_held(); held > 0; held--)
        reprise_threads_unlock();
    for (;;)
        pause();
}

void rp_threads_pause(unsigned *tries)
{
    reprise_threads_give_way(tries, false);
    if (turns.is_over)
        rp_threads_stay();
}

bool rp_threads_wait(void)
{
    return own.waits > 0;
}

void rp_threads_waits(bool begins)
{
    own.waits += begins ? 1 : -1;
}

void rp_threads_asks(bool begins)
{
    own.asks += begins ? 1 : -1;
}

int rp_threads_number(void)
{
    return own.number;
}

uint64_t rp_threads_calls(void)
{
    return own.calls;
}

/* Recording */

static const struct rp_function thread_entry = {RP_THREAD_NUMBER, "thread"};

static void introduce(const char *function)
{
    uint64_t identity = reprise_thread_identity();

    own.number = reprise_thread_number(function, own.place, own.stack);
    own.is_known = true;
    rp_data_begin(turns.writer, thread_entry.number, thread_entry.name);
    rp_data_put_number(turns.writer, (uint64_t)own.number);
    rp_data_put(turns.writer, &identity, sizeof identity);
    rp_data_end(turns.writer);
}

void rp_threads_put(const struct rp_function *function)
{
    if (!own.is_known)
        introduce(function->name);
    rp_data_begin(turns.writer, function->number, function->name);
    rp_data_put_number(turns.writer, (uint64_t)own.number);
    rp_data_put_number(turns.writer, own.nos);
    rp_data_end(turns.writer);
    own.nos = 0;
}

static uint32_t number_of_lock(const char *name)
{
    uint32_t i = 0, most = sizeof turns.locks / sizeof *turns.locks;

    while (i < most && turns.locks[i] && strcmp(turns.locks[i], name) != 0)
        i++;
    if (i == most)
        rp_bug(__FILE__, __LINE__, "too many functions that take locks");
    turns.locks[i] = name;
    return LOCKS + i;
}

void rp_threads_put_lock(const char *name)
{
    rp_threads_put(&(const struct rp_function){number_of_lock(name), name});
}

bool rp_threads_skip_no(void)
{
    uint64_t entries = rp_data_entries(rp_partial.writer);

    if (own.waits > 0)
        return true;
    if (own.asks > 0)
        return false;
    rp_partial.hooks->before_entry();
    if (rp_data_entries(rp_partial.writer) != entries)
        return false;
    own.nos++;
    return true;
}

/* Feeding: the log */

static void need(bool is_there)
{
    if (!is_there)
        rp_bug(__FILE__, __LINE__, "out of memory for the turns of threads");
}

static uint32_t place_of(int32_t number)
{
    for (uint32_t i = turns.thread_count; i > 0; i--)
        if (turns.threads[i - 1].number == number)
            return i - 1;
    return NONE;
}

static void add_thread(int32_t number, uint64_t identity)
{
    turns.threads = realloc(turns.threads, (turns.thread_count + 1) * sizeof *turns.threads);
    need(turns.threads);
    turns.threads[turns.thread_count++] = (struct thread){number, identity, NONE, NONE};
}

static void add_turn(const char *name, uint32_t place, uint64_t nos)
{
    struct thread *thread = &turns.threads[place];

    if (turns.count == turns.room) {
        turns.room = turns.room * 2 + 1024;
        turns.turn = realloc(turns.turn, turns.room * sizeof *turns.turn);
        need(turns.turn);
    }
    if (thread->last == NONE)
        thread->first = turns.count;
    else
        turns.turn[thread->last].next = turns.count;
    thread->last = turns.count;
    turns.turn[turns.count++] = (struct turn){name, place, nos < NONE ? (uint32_t)nos : NONE, NONE};
}

static bool add_entry(const char *name)
{
    int32_t number = (int32_t)rp_data_get_number(turns.reader);
    uint64_t identity;

    if (strcmp(name, thread_entry.name) == 0) {
        rp_data_get(turns.reader, &identity, sizeof identity);
        add_thread(number, identity);
        return true;
    }
    uint64_t nos = rp_data_get_number(turns.reader);
    uint32_t place = place_of(number);
    if (place == NONE || turns.count == NONE - 1)
        return false;
    add_turn(name, place, nos);
    return true;
}

static enum rp_status read_all(struct rp_problem *why)
{
    const char *name = "";
    enum rp_status status = RP_OK;

    while (status == RP_OK && (status = rp_data_next(turns.reader, &name, why)) == RP_OK && name) {
        if (!add_entry(name))
            return rp_fail(why, RP_DAMAGED,
                           "the log of turns names a thread that it does not have");
        status = rp_data_failed(turns.reader, why);
    }
    return status == RP_BUSY ? RP_OK : status; /* the process died there */
}

/* Feeding: waiting */

static int64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_waiter(int thread)
{
    for (const struct waiter *w = waiters; w; w = w->next)
        if (w->thread == thread)
            return true;
    return false;
}

static bool runs(const char *thread)
{
    char path[300], text[512] = "", state = 'S';

    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file) && strrchr(text, ')'))
        sscanf(strrchr(text, ')') + 1, " %c", &state);
    if (file)
        fclose(file);
    return state == 'R' || state == 'D';
}

/* Whether no thread of the process runs, but for those that wait here. */
static bool is_idle(void)
{
    bool is_one_running = false;
    DIR *tasks = opendir("/proc/self/task");

    for (struct dirent *e; tasks && !is_one_running && (e = readdir(tasks)) != NULL;)
        is_one_running = *e->d_name != '.' && !is_waiter(atoi(e->d_name)) && runs(e->d_name);
    if (tasks)
        closedir(tasks);
    return !is_one_running;
}

struct waiting {
    struct waiter self;
    unsigned tries;
    int64_t next_look, idle_since; /* 0: not idle */
    uint32_t front;
    bool is_said;
};

/* Who waits is in the list until end_waiting. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
static void begin_waiting(struct waiting *w)
{
    w->self = (struct waiter){(int)syscall(SYS_gettid), waiters};
    waiters = &w->self;
    w->front = turns.front;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif

static void end_waiting(struct waiting *w)
{
    struct waiter **at = &waiters;

    while (*at && *at != &w->self)
        at = &(*at)->next;
    if (*at)
        *at = w->self.next;
}

/* Returns for how long nothing has moved. */
static int64_t pass_time(struct waiting *w)
{
    enum { FIRST = 2000, LOOK_MS = 50 };

    reprise_threads_give_way(&w->tries, true);
    if (w->tries < FIRST)
        return 0;
    int64_t now = milliseconds();
    if (now < w->next_look)
        return w->idle_since ? now - w->idle_since : 0;
    w->next_look = now + LOOK_MS;
    if (w->front != turns.front || !is_idle()) {
        w->front = turns.front;
        w->idle_since = 0;
        return 0;
    }
    if (w->idle_since == 0)
        w->idle_since = now;
    return now - w->idle_since;
}

/* Nothing moves, and it is the turn of a thread that does not come. */
static void tell(struct waiting *w, const char *function)
{
    const struct turn *front = &turns.turn[turns.front];

    if (!w->is_said)
        rp_note("%s in thread %d waits: it is the turn of thread %d, which called %s next when it "
                "was recorded, and does not come (do threads agree by means that reprise does not "
                "see?)",
                function, own.number, turns.threads[front->thread].number, front->name);
    w->is_said = true;
}

static bool is_own_turn(void)
{
    return own.next != NONE && own.next == turns.front;
}

/* Returns false if this thread has no turn left, and nothing moves any more; or the rank ends. */
static bool await(const char *function)
{
    enum { END_MS = 1000, TELL_MS = 10000 };
    struct waiting w = {0};

    if (is_own_turn())
        return true;
    begin_waiting(&w);
    do {
        int64_t idle = pass_time(&w);
        if (idle > TELL_MS && turns.front < turns.count)
            tell(&w, function);
        if (turns.is_over || (own.next == NONE && idle > END_MS))
            break;
    } while (!is_own_turn());
    end_waiting(&w);
    return is_own_turn();
}

/* The first call of this thread: which of the recorded ones it is. */
static void know(void)
{
    uint64_t identity = reprise_thread_identity();

    if (own.is_known)
        return;
    own.is_known = true;
    for (uint32_t i = 0; i < turns.thread_count && own.next == NONE; i++)
        if (turns.threads[i].identity == identity) {
            own.number = turns.threads[i].number;
            own.next = turns.threads[i].first;
        }
}

enum rp_turn rp_threads_reach(const char *function, const char **recorded)
{
    know();
    if (turns.is_over)
        return RP_TURN_OVER;
    if (own.next != NONE && strcmp(turns.turn[own.next].name, function) != 0) {
        *recorded = turns.turn[own.next].name;
        return RP_TURN_OTHER;
    }
    if (!await(function))
        return turns.is_over ? RP_TURN_OVER : RP_TURN_NONE;
    if (own.calls == 0 || own.number < 0)
        reprise_thread_number(function, own.place, own.stack);
    return RP_TURN_REACHED;
}

void rp_threads_advance(void)
{
    own.calls++;
    own.nos = 0;
    own.tries = 0;
    own.next = turns.turn[turns.front].next;
    turns.front++;
}

void rp_threads_await(const char *function)
{
    know();
    if (own.next != NONE)
        await(function);
}

/* A recorded no costs little: there may be millions. Others get the lock now and then. */
static void let_others_go(bool is_recorded)
{
    enum { MANY = 64 };
    unsigned only_yield = 0;

    if (!is_recorded)
        reprise_threads_give_way(&own.tries, false);
    else if (own.nos % MANY == 0)
        reprise_threads_give_way(&only_yield, false);
}

bool rp_threads_poll(const char *function)
{
    know();
    const struct turn *next = own.next != NONE ? &turns.turn[own.next] : NULL;
    bool is_recorded = next && own.nos < next->nos;
    if (next && !is_recorded && strcmp(next->name, function) == 0)
        return await(function);
    own.nos++;
    let_others_go(is_recorded);
    return false;
}

const char *rp_threads_left(int *thread)
{
    if (turns.front >= turns.count)
        return NULL;
    *thread = turns.threads[turns.turn[turns.front].thread].number;
    return turns.turn[turns.front].name;
}

/* Both */

void rp_threads_expect(const char *directory, uint64_t run, int rank, int ranks)
{
    turns.directory = strdup(directory);
    turns.run = run;
    turns.rank = (uint32_t)rank;
    turns.ranks = (uint32_t)ranks;
}

enum rp_status rp_threads_begin(struct rp_problem *why)
{
    enum rp_status status = !turns.directory ? rp_fail(why, RP_MEMORY, "out of memory")
                            : rp_partial.is_feeding
                                ? rp_data_open_turns(turns.directory, turns.run, turns.rank,
                                                     turns.ranks, &turns.reader, why)
                                : rp_data_create_turns(turns.directory, turns.run, turns.rank,
                                                       turns.ranks, &turns.writer, why);

    if (status == RP_OK && rp_partial.is_feeding)
        status = read_all(why);
    own.is_in = true;
    own.calls = rp_partial.is_feeding ? rp_data_read_entries(rp_partial.reader)
                                      : rp_data_entries(rp_partial.writer);
    rp_partial.has_threads = status == RP_OK;
    return status;
}

/* Other threads may be behind: the recorded ones had made all that is in the record. */
void rp_threads_let_end(void)
{
    enum { IDLE_MS = 1000 };
    struct waiting w = {0};

    begin_waiting(&w);
    while (turns.front < turns.count && pass_time(&w) < IDLE_MS)
        ;
    end_waiting(&w);
}

uint64_t rp_threads_end(void)
{
    struct rp_problem why;
    uint64_t bytes = 0;

    if (!rp_partial.has_threads || turns.is_over)
        return 0;
    turns.is_over = true;
    if (turns.writer && rp_data_close(turns.writer, &bytes, &why) != RP_OK)
        rp_error("%s", why.text);
    turns.writer = NULL;
    return bytes;
}
