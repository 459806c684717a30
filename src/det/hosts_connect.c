/* SPDX-License-Identifier: MIT */
/*
 * Each host connects to those before it, at the first of their addresses where somebody proves to
 * be it, and waits for those after it. Both sides prove that they know the secret, by a keyed hash
 * of what the other side made up for this connection:
 *
 *   who connects:  magic, from, to, challenge
 *   who listens:   challenge, hash(1, from, to, both challenges)
 *   who connects:  hash(2, from, to, both challenges)
 *   who listens:   hash(3, from, to, both challenges)
 *
 * Who connects and proves nothing is not waited for: others are served meanwhile.
 */
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
#include "det/hosts.h"

enum {
    PATIENCE = 60,
    TRY = 10,
    GUESTS = 32
}; /* seconds for all, for one; who may be heard at once */
enum {
    SILENCE = 10,
    STEP = 5,
    STEPS = 4
}; /* seconds until a silent connection is tried, between tries; how often: then it is broken */

static const char magic[8] = "reprise\1";

struct hello {
    char magic[8];
    uint32_t from, to;
    uint8_t challenge[16];
};

struct answer {
    uint8_t challenge[16];
    uint64_t proof;
};

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

static void find_addresses(struct rp_hosts_card *card)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *one = all; one && card->count < RP_HOSTS_ADDRESSES; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
            !(one->ifa_flags & IFF_LOOPBACK))
            card->address[card->count++] =
                ((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr.s_addr;
    freeifaddrs(all);
    if (card->count == 0)
        card->address[card->count++] = htonl(INADDR_LOOPBACK);
}

enum rp_status rp_hosts_listen(struct rp_hosts_card *card, int *listener, struct rp_problem *why)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;

    memset(card, 0, sizeof *card);
    find_addresses(card);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 1024) != 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rp_fail(why, RP_SYSTEM, "cannot listen for other hosts: %s", strerror(error));
    }
    *listener = fd;
    card->port = ntohs(address.sin_port);
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

static bool greet(int fd, uint32_t from, uint32_t to, const uint8_t *secret, double until)
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
    if (is_open && greet(fd, from, to, secret, start + TRY))
        return fd;
    close(fd);
    return -1;
}

static int connect_to(const struct rp_hosts_card *card, uint32_t from, uint32_t to,
                      const uint8_t *secret, double until)
{
    struct timespec pause = {0, 20000000};

    while (now() < until) {
        for (uint32_t i = 0; i < card->count && i < RP_HOSTS_ADDRESSES; i++) {
            int fd = try_address(card->address[i], card->port, from, to, secret);
            if (fd >= 0)
                return fd;
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}

/* Being connected to */

struct guest {
    int fd; /* -1: none */
    bool is_answered;
    size_t length;
    double until;
    struct hello hello;
    struct answer answer;
    uint64_t proof;
};

static void dismiss(struct guest *guest)
{
    if (guest->fd >= 0)
        close(guest->fd);
    guest->fd = -1;
}

static void welcome(int listener, struct guest *guests)
{
    struct guest *oldest = &guests[0];
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    for (int i = 0; i < GUESTS && oldest->fd >= 0; i++)
        if (guests[i].fd < 0 || guests[i].until < oldest->until)
            oldest = &guests[i];
    dismiss(oldest);
    *oldest = (struct guest){.fd = fd, .until = now() + TRY};
}

static bool is_expected(const struct hello *hello, uint32_t hosts, uint32_t self,
                        const int *sockets)
{
    return memcmp(hello->magic, magic, sizeof magic) == 0 && hello->to == self &&
           hello->from > self && hello->from < hosts && sockets[hello->from] < 0;
}

static bool answer_hello(struct guest *guest, const uint8_t *secret)
{
    if (!challenge(guest->answer.challenge))
        return false;
    guest->answer.proof = proof(secret, 1, &guest->hello, &guest->answer);
    guest->is_answered = true;
    guest->length = 0;
    return send(guest->fd, &guest->answer, sizeof guest->answer, MSG_NOSIGNAL) ==
           sizeof guest->answer;
}

static bool admit(struct guest *guest, const uint8_t *secret)
{
    uint64_t last = proof(secret, 3, &guest->hello, &guest->answer);

    return guest->proof == proof(secret, 2, &guest->hello, &guest->answer) &&
           send(guest->fd, &last, sizeof last, MSG_NOSIGNAL) == sizeof last;
}

/* What it says next; true: it is who it says. */
static bool hear(struct guest *guest, uint32_t hosts, uint32_t self, const uint8_t *secret,
                 const int *sockets)
{
    char *into = guest->is_answered ? (char *)&guest->proof : (char *)&guest->hello;
    size_t wanted = guest->is_answered ? sizeof guest->proof : sizeof guest->hello;
    ssize_t part = recv(guest->fd, into + guest->length, wanted - guest->length, 0);

    if (part < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    guest->length += part > 0 ? (size_t)part : 0;
    if (part > 0 && guest->length < wanted)
        return false;
    if (part > 0 && is_expected(&guest->hello, hosts, self, sockets)) {
        if (guest->is_answered && admit(guest, secret))
            return true;
        if (!guest->is_answered && answer_hello(guest, secret))
            return false;
    }
    dismiss(guest);
    return false;
}

static void wait_for_guests(int listener, struct guest *guests)
{
    struct pollfd all[GUESTS + 1];

    for (int i = 0; i < GUESTS; i++) {
        if (guests[i].fd >= 0 && guests[i].until < now())
            dismiss(&guests[i]);
        all[i] = (struct pollfd){.fd = guests[i].fd, .events = POLLIN};
    }
    all[GUESTS] = (struct pollfd){.fd = listener, .events = POLLIN};
    poll(all, GUESTS + 1, 500);
    if (all[GUESTS].revents)
        welcome(listener, guests);
}

static void receive_guests(uint32_t hosts, uint32_t self, const uint8_t *secret, int listener,
                           int *sockets, double until)
{
    struct guest guests[GUESTS];
    uint32_t missing = hosts - 1 - self;

    for (int i = 0; i < GUESTS; i++)
        guests[i] = (struct guest){.fd = -1};
    while (missing > 0 && now() < until) {
        wait_for_guests(listener, guests);
        for (int i = 0; i < GUESTS; i++)
            if (guests[i].fd >= 0 && hear(&guests[i], hosts, self, secret, sockets)) {
                sockets[guests[i].hello.from] = guests[i].fd;
                guests[i].fd = -1;
                missing--;
            }
    }
    for (int i = 0; i < GUESTS; i++)
        dismiss(&guests[i]);
}

/* A network that fails says nothing. */
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

enum rp_status rp_hosts_connect(const struct rp_hosts_card *cards, uint32_t hosts, uint32_t self,
                                const uint8_t *secret, int listener, int *sockets,
                                struct rp_problem *why)
{
    double until = now() + PATIENCE;

    for (uint32_t i = 0; i < hosts; i++)
        sockets[i] = i < self ? connect_to(&cards[i], self, i, secret, until) : -1;
    receive_guests(hosts, self, secret, listener, sockets, until);
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
