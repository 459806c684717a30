/* SPDX-License-Identifier: MIT */
/* The code of src/det, compiled so that ranks can change in it (det_model.h). */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

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
    MODEL_MESSAGES = 256,
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
#define rp_futex_sleep(futex, seen, microseconds)                                                  \
    ((void)(seen), (void)(microseconds), rp_futex_stop_listening(futex), model_idle())
#define sleep(seconds) model_dead()
#define _exit(status) return
#define malloc(size) model_allocate(size)
#define calloc(number, size) model_allocate((number) * (size))
#define realloc(old, size) model_reallocate(old, size)
#define free(memory) model_free(memory)

#define write(fd, bytes, size) model_wake()

#include "../../src/preload/requests.c"
#include "../../src/det/shared_state.c"
#include "../../src/det/shared_messages.c"
#include "../../src/det/shared_collectives.c"
#include "../../src/det/shared_bounds.c"
#include "../../src/det/det_real.c"
#include "../../src/det/det_posted.c"
#include "../../src/det/det_request_table.c"
#include "../../src/det/det_matching.c"
// No rank of the model has a device.
bool rp_device_holds(const void *buf, MPI_Count count, MPI_Datatype type)
{
    (void)buf, (void)count, (void)type;
    return false;
}

size_t rp_device_pack(const void *buf, MPI_Count count, MPI_Datatype type, void *out, size_t bytes)
{
    (void)buf, (void)count, (void)type, (void)out, (void)bytes;
    abort();
}

#include "../../src/det/det_copies.c"
#include "../../src/det/det_wait.c"
#include "../../src/det/det_receives.c"
#include "../../src/det/det_collectives.c"
#include "../../src/det/det_sends.c"
#include "../../src/det/det_requests.c"
#include "../../src/det/det_completion.c"
#include "../../src/det/det_request_calls.c"
#undef _exit
#define _exit(status) abort()
#define send(host, bytes, length, flags) model_net_send(host, bytes, length)
#define recv(host, bytes, room, flags) model_net_recv(host, bytes, room)
#define ppoll(polled, number, timeout, mask) model_net_poll(polled, timeout)
#define read(fd, bytes, size) ((void)(bytes), model_drain())
#define prctl(...) ((void)0)
#define pthread_create(thread, attributes, function, data) ((void)(function), 0)
#define pthread_join(...) ((void)0)
#define pthread_sigmask(how, set, old) ((void)(set), (void)(old))
#include "../../src/det/leader_state.c"
#include "../../src/det/leader_send.c"
#include "../../src/det/leader_receive.c"
#include "../../src/det/leader.c"
#undef pthread_sigmask
#undef pthread_join
#undef pthread_create
#undef prctl
#undef read
#undef ppoll
#undef recv
#undef send
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

#endif
