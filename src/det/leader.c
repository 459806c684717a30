/* SPDX-License-Identifier: MIT */
/*
 * The leader of a host sends what is in the outbox to the hosts that it is for, puts what comes
 * from other hosts into the inboxes of its ranks, and sends other hosts frames: how its ranks are.
 *
 * For a frame the leader looks at all ranks of its host twice, as rp_shared_bounds does. So what it
 * finds of those that wait was so at one moment M, and no clock of those that run was later than
 * what it read. Only then it empties the outbox, then it reads how much was sent from here to each
 * rank of another host; and it sends all that, in this order. So a host that has a frame also has
 * the messages that were sent to it, and the arrivals at collectives, before M. With a rank that
 * waits goes how much it had received from each host.
 *
 * Frames of different hosts are of different moments. A rank is believed to wait if it had received
 * at least as much from each host as the latest frame of that host says was sent. Why is that
 * enough? Suppose some rank did something earlier, by its logical time, than its bound. Of all that
 * was done so, take something that nothing else of it caused. The rank did not run at its moment M,
 * since then its clock was its bound. So something came to it after M:
 *
 * - A message. It was not among those counted, so it was sent after its sender's M, no earlier than
 *   the bound of its sender, and the bound of the rank holds.
 * - The notice that a message of its own was received, which counts as a message to it. The receive
 *   was posted after the receiver's M, or was under way then. In the second case the receiver had
 *   seen the message, and published that, which is counted; or it had not. Then the message counts
 *   as one that may have been received at its time, unless the receiver received nothing at its M
 *   (rp_shared_receives_nothing). The leader, who sees the message, must not decide that: what it
 *   knows of the receiver may be of an earlier moment. So the frame has a bit for each rank of
 * which that was assumed (`relied`).
 * - The last arrival at a collective. Which ranks are missing is taken from the copy of the
 *   collective on the host where the bounds are found: a rank that is missing there comes after its
 *   own M. Of a rank that waits for several operations the frame has the first that completed. That
 *   a collective among them is not complete is believed if the rank's host knew of all arrivals
 *   that the latest frames of all hosts count: then the last rank arrives after its own M.
 *
 * No host polls by time alone: a host in which a rank waits requests one frame of each other host,
 * gets it as soon as something is new, and requests the next if it still needs to. Otherwise the
 * leader sleeps.
 */
#include "det/leader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "det/leader_receive.h"
#include "det/leader_send.h"
#include "det/leader_state.h"

static bool wants_updates(void)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (!rp_shared_is_remote(i) && atomic_load(&rp_shared.all[i].wants_updates))
            return true;
    return false;
}

static bool has_to_ask(void)
{
    bool is_asked = true;

    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        is_asked &= rp_leader.peers[h].fd < 0 || rp_leader.peers[h].is_asked;
    return !is_asked && wants_updates();
}

static void request_frames(void)
{
    if (has_to_ask())
        for (uint32_t h = 0; h < rp_shared.hosts; h++)
            if (rp_leader.peers[h].fd >= 0 && !rp_leader.peers[h].is_asked) {
                rp_leader.peers[h].is_asked = true;
                rp_leader_say(&rp_leader.peers[h], RP_LEADER_REQUEST, NULL, 0);
            }
}

static void ask_whether_to_report(void)
{
    if (atomic_load(&rp_shared_common()->asks) == 1) {
        atomic_store(&rp_shared_common()->asks, 2);
        rp_leader_say(&rp_leader.peers[0], RP_LEADER_ASK, NULL, 0);
    }
}

static void sleep_a_while(void)
{
    struct rp_shared_common *shared = rp_shared_common();
    bool is_wanted = rp_leader_is_wanted();
    struct timespec pause = {0, rp_leader.pause}, none = {0, 0};

    rp_leader.polled[rp_shared.hosts] =
        (struct pollfd){.fd = rp_shared_wake_pipe(), .events = POLLIN};
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        rp_leader.polled[h] = (struct pollfd){
            .fd = rp_leader.peers[h].fd,
            .events =
                (short)(POLLIN |
                        (rp_leader.peers[h].sent < rp_leader.peers[h].out.length ? POLLOUT : 0))};
    atomic_store(&shared->sleeps, 1);
    atomic_thread_fence(memory_order_seq_cst);
    bool is_busy = atomic_load(&shared->outbox) != 0 || has_to_ask() ||
                   atomic_load(&shared->asks) == 1 || atomic_load(&rp_leader.stops);
    ppoll(rp_leader.polled, rp_shared.hosts + 1, is_busy ? &none : is_wanted ? &pause : NULL, NULL);
    atomic_store(&shared->sleeps, 0);
}

static void drain_pipe(void)
{
    char bytes[64];

    while (read(rp_shared_wake_pipe(), bytes, sizeof bytes) > 0)
        ;
}

static void *lead(void *data)
{
    (void)data;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    while (!atomic_load(&rp_leader.stops)) {
        sleep_a_while();
        if (rp_leader.polled[rp_shared.hosts].revents)
            drain_pipe();
        for (uint32_t h = 0; h < rp_shared.hosts; h++)
            if (rp_leader.peers[h].fd >= 0 && rp_leader.polled[h].revents)
                rp_leader_listen(&rp_leader.peers[h]);
        rp_leader_send_all();
        request_frames();
        ask_whether_to_report();
        for (uint32_t h = 0; h < rp_shared.hosts; h++)
            rp_leader_flush(&rp_leader.peers[h]);
    }
    return NULL;
}

enum rp_status rp_leader_start(const int *sockets, struct rp_problem *why)
{
    sigset_t every, before;

    if (!rp_leader_make_room())
        return rp_fail(why, RP_MEMORY, "out of memory for other hosts");
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        rp_leader.peers[h].fd = sockets[h];
    for (uint32_t i = 0; i < rp_shared.ranks; i++) {
        rp_leader_rank(i)->wait = RP_WAIT_NONE;
        if (!rp_shared_is_remote(i))
            continue;
        rp_shared_copy(i)->wait = RP_WAIT_NONE;
        atomic_store(&rp_shared.all[i].version, 1);
    }
    rp_leader.pause = RP_LEADER_SHORTEST_PAUSE;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int error = pthread_create(&rp_leader.thread, NULL, lead, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? RP_OK
                      : rp_fail(why, RP_SYSTEM, "no thread for other hosts: %s", strerror(error));
}

void rp_leader_stop(void)
{
    atomic_store(&rp_leader.stops, 1);
    if (write(rp_shared_wake_pipe(), "", 1) < 0 && errno != EAGAIN)
        return;
    pthread_join(rp_leader.thread, NULL);
    for (uint32_t h = 0; h < rp_shared.hosts; h++)
        if (rp_leader.peers[h].fd >= 0)
            close(rp_leader.peers[h].fd);
}
