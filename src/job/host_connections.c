/* SPDX-License-Identifier: MIT */
/*
 * Each host connects to the hosts before it, and accepts connections from the hosts after it. A
 * host may have several addresses: the first one at which it proves its identity is used. Both
 * sides prove that they know the secret by a keyed hash of a random challenge of the other side:
 *
 *   the connecting host:  magic, from, to, challenge
 *   the listening host:   challenge, hash(1, from, to, both challenges)
 *   the connecting host:  hash(2, from, to, both challenges)
 *   the listening host:   hash(3, from, to, both challenges)
 *
 * A caller that proves nothing delays nobody: other callers are served meanwhile.
 */
#include "job/host_connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/siphash.h"

enum {
    PATIENCE = 60, /* seconds for all connections */
    TRY = 10,      /* seconds for one */
    CALLERS = 32   /* unproven callers that are served at once */
};
enum {
    SILENCE = 10, /* seconds until a silent connection is probed */
    STEP = 5,     /* seconds between probes */
    STEPS = 4     /* probes without an answer: the connection is broken */
};

static const char magic[8] = {'r', 'e', 'p', 'r', 'i', 's', 'e', '\1'};

struct hello {
    char magic[8];
    uint32_t from, to;
    uint8_t challenge[16];
};

struct answer {
    uint8_t challenge[16];
    uint64_t proof;
};

/* The text that a proof is the hash of. */
struct both {
    uint32_t role, from, to, nothing;
    uint8_t first[16], second[16];
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool challenge(uint8_t *bytes)
{
    return getrandom(bytes, 16, 0) == 16;
}

static uint64_t proof(const uint8_t *secret, uint32_t role, const struct hello *hello,
                      const struct answer *answer)
{
    struct both both = {.role = role, .from = hello->from, .to = hello->to};

    memcpy(both.first, hello->challenge, 16);
    memcpy(both.second, answer->challenge, 16);
    return rp_siphash(secret, &both, sizeof both);
}

/* Listening */

static void find_addresses(struct rp_host_address *own)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *one = all; one && own->count < RP_HOST_ADDRESSES; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
            !(one->ifa_flags & IFF_LOOPBACK))
            own->address[own->count++] =
                ((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr.s_addr;
    freeifaddrs(all);
    if (own->count == 0)
        own->address[own->count++] = htonl(INADDR_LOOPBACK);
}

enum rp_status rp_host_listen(struct rp_host_address *own, int *listener, struct rp_problem *why)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;

    memset(own, 0, sizeof *own);
    find_addresses(own);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 1024) != 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rp_fail(why, RP_SYSTEM, "cannot listen for other hosts: %s", strerror(error));
    }
    *listener = fd;
    own->port = ntohs(address.sin_port);
    return RP_OK;
}

/* Connecting */

static bool transfer(int fd, void *bytes, size_t length, bool sends, double until)
{
    for (size_t done = 0; done < length;) {
        struct pollfd one = {.fd = fd, .events = sends ? POLLOUT : POLLIN};
        double left = until - now();
        if (left <= 0 || poll(&one, 1, (int)(left * 1000) + 1) < 0)
            return false;
        ssize_t part = sends ? send(fd, (char *)bytes + done, length - done, MSG_NOSIGNAL)
                             : recv(fd, (char *)bytes + done, length - done, 0);
        if (part == 0 || (part < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        done += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static bool shake_hands(int fd, uint32_t from, uint32_t to, const uint8_t *secret, double until)
{
    struct hello hello = {.from = from, .to = to};
    struct answer answer;
    uint64_t last;

    memcpy(hello.magic, magic, sizeof magic);
    if (!challenge(hello.challenge) || !transfer(fd, &hello, sizeof hello, true, until) ||
        !transfer(fd, &answer, sizeof answer, false, until))
        return false;
    uint64_t own = proof(secret, 2, &hello, &answer);
    return answer.proof == proof(secret, 1, &hello, &answer) &&
           transfer(fd, &own, sizeof own, true, until) &&
           transfer(fd, &last, sizeof last, false, until) &&
           last == proof(secret, 3, &hello, &answer);
}

static bool is_connected(int fd, double until)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    double left = until - now();

    return poll(&one, 1, (int)(left * 1000)) == 1 &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

static int try_address(uint32_t ip, uint32_t port, uint32_t from, uint32_t to,
                       const uint8_t *secret)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = ip};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    double start = now();

    if (fd < 0)
        return -1;
    bool is_open = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ||
                   (errno == EINPROGRESS && is_connected(fd, start + 3));
    if (is_open && shake_hands(fd, from, to, secret, start + TRY))
        return fd;
    close(fd);
    return -1;
}

static int connect_to(const struct rp_host_address *other, uint32_t from, uint32_t to,
                      const uint8_t *secret, double until)
{
    struct timespec pause = {0, 20000000};

    while (now() < until) {
        for (uint32_t i = 0; i < other->count && i < RP_HOST_ADDRESSES; i++) {
            int fd = try_address(other->address[i], other->port, from, to, secret);
            if (fd >= 0)
                return fd;
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}

/* Being connected to */

/* A caller: it has connected to us, and has not proved its identity yet. */

struct caller {
    int fd; /* -1: none */
    bool is_answered;
    size_t length;
    double until;
    struct hello hello;
    struct answer answer;
    uint64_t proof;
};

static void hang_up(struct caller *caller)
{
    if (caller->fd >= 0)
        close(caller->fd);
    caller->fd = -1;
}

static void accept_caller(int listener, struct caller *callers)
{
    struct caller *oldest = &callers[0];
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    for (int i = 0; i < CALLERS && oldest->fd >= 0; i++)
        if (callers[i].fd < 0 || callers[i].until < oldest->until)
            oldest = &callers[i];
    hang_up(oldest);
    *oldest = (struct caller){.fd = fd, .until = now() + TRY};
}

static bool is_expected(const struct hello *hello, uint32_t hosts, uint32_t self,
                        const int *sockets)
{
    return memcmp(hello->magic, magic, sizeof magic) == 0 && hello->to == self &&
           hello->from > self && hello->from < hosts && sockets[hello->from] < 0;
}

static bool answer_hello(struct caller *caller, const uint8_t *secret)
{
    if (!challenge(caller->answer.challenge))
        return false;
    caller->answer.proof = proof(secret, 1, &caller->hello, &caller->answer);
    caller->is_answered = true;
    caller->length = 0;
    return send(caller->fd, &caller->answer, sizeof caller->answer, MSG_NOSIGNAL) ==
           sizeof caller->answer;
}

static bool answer_proof(struct caller *caller, const uint8_t *secret)
{
    uint64_t last = proof(secret, 3, &caller->hello, &caller->answer);

    return caller->proof == proof(secret, 2, &caller->hello, &caller->answer) &&
           send(caller->fd, &last, sizeof last, MSG_NOSIGNAL) == sizeof last;
}

/* Reads what the caller sent next. Returns true when it has proved who it is. */
static bool read_caller(struct caller *caller, uint32_t hosts, uint32_t self, const uint8_t *secret,
                        const int *sockets)
{
    char *into = caller->is_answered ? (char *)&caller->proof : (char *)&caller->hello;
    size_t wanted = caller->is_answered ? sizeof caller->proof : sizeof caller->hello;
    ssize_t part = recv(caller->fd, into + caller->length, wanted - caller->length, 0);

    if (part < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    caller->length += part > 0 ? (size_t)part : 0;
    if (part > 0 && caller->length < wanted)
        return false;
    if (part > 0 && is_expected(&caller->hello, hosts, self, sockets)) {
        if (caller->is_answered && answer_proof(caller, secret))
            return true;
        if (!caller->is_answered && answer_hello(caller, secret))
            return false;
    }
    hang_up(caller);
    return false;
}

static void serve_callers(int listener, struct caller *callers)
{
    struct pollfd all[CALLERS + 1];

    for (int i = 0; i < CALLERS; i++) {
        if (callers[i].fd >= 0 && callers[i].until < now())
            hang_up(&callers[i]);
        all[i] = (struct pollfd){.fd = callers[i].fd, .events = POLLIN};
    }
    all[CALLERS] = (struct pollfd){.fd = listener, .events = POLLIN};
    poll(all, CALLERS + 1, 500);
    if (all[CALLERS].revents)
        accept_caller(listener, callers);
}

static void accept_callers(uint32_t hosts, uint32_t self, const uint8_t *secret, int listener,
                           int *sockets, double until)
{
    struct caller callers[CALLERS];
    uint32_t missing = hosts - 1 - self;

    for (int i = 0; i < CALLERS; i++)
        callers[i] = (struct caller){.fd = -1};
    while (missing > 0 && now() < until) {
        serve_callers(listener, callers);
        for (int i = 0; i < CALLERS; i++)
            if (callers[i].fd >= 0 && read_caller(&callers[i], hosts, self, secret, sockets)) {
                sockets[callers[i].hello.from] = callers[i].fd;
                callers[i].fd = -1;
                missing--;
            }
    }
    for (int i = 0; i < CALLERS; i++)
        hang_up(&callers[i]);
}

/* A network failure closes no connection. So TCP probes connections that are silent. */
static void set_up(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){SILENCE}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){STEP}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){STEPS}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(unsigned){(SILENCE + STEP * STEPS) * 1000},
               sizeof(unsigned));
}

enum rp_status rp_host_connect(const struct rp_host_address *addresses, uint32_t hosts,
                               uint32_t self, const uint8_t *secret, int listener, int *sockets,
                               struct rp_problem *why)
{
    double until = now() + PATIENCE;

    for (uint32_t i = 0; i < hosts; i++)
        sockets[i] = i < self ? connect_to(&addresses[i], self, i, secret, until) : -1;
    accept_callers(hosts, self, secret, listener, sockets, until);
    close(listener);
    for (uint32_t i = 0; i < hosts; i++) {
        if (i != self && sockets[i] < 0)
            return rp_fail(why, RP_SYSTEM,
                           "no connection between host %u and host %u of the job: none of the "
                           "addresses can be reached by TCP, or somebody else is there",
                           self, i);
        if (i != self)
            set_up(sockets[i]);
    }
    return RP_OK;
}
