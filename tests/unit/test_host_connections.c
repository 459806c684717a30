/* SPDX-License-Identifier: MIT */
/* Three hosts connect to each other, while strangers do: one says nothing, one says something else,
 * one does not know the secret. */
#include "job/host_connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

enum { HOSTS = 3 };

static struct rp_host_address addresses[HOSTS];
static int listeners[HOSTS], sockets[HOSTS][HOSTS];
static uint8_t secret[RP_HOST_SECRET] = "a secret of ours";
static enum rp_status outcome[HOSTS];

static void *join(void *data)
{
    uint32_t self = *(uint32_t *)data;
    struct rp_problem why;

    outcome[self] =
        rp_host_connect(addresses, HOSTS, self, secret, listeners[self], sockets[self], &why);
    return NULL;
}

static int come_as_stranger(const void *words, size_t length)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)addresses[0].port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    if (length > 0)
        CHECK(send(fd, words, length, MSG_NOSIGNAL) == (ssize_t)length);
    return fd;
}

static bool open_hosts(void)
{
    struct rp_problem why;

    for (int i = 0; i < HOSTS; i++) {
        if (rp_host_listen(&addresses[i], &listeners[i], &why) != RP_OK)
            return false; /* no network */
        addresses[i].address[0] =
            htonl(0x7f000005); /* nobody is there: the next one has to be tried */
        addresses[i].address[1] = htonl(INADDR_LOOPBACK);
        addresses[i].count = 2;
    }
    return true;
}

TEST(strangers_do_not_disturb)
{
    struct {
        char magic[8];
        uint32_t from, to;
        char challenge[16];
        uint64_t proof;
    } forged = {
        .magic = "reprise\1", .from = 1, .to = 0, .challenge = "0123456789abcde", .proof = 1};
    pthread_t threads[HOSTS];
    uint32_t self[HOSTS];
    char buffer[64];

    if (!open_hosts())
        return;
    int silent = come_as_stranger(NULL, 0),
        other = come_as_stranger("GET / HTTP/1.0\r\nHost: somebody\r\n\r\n", 34),
        liar = come_as_stranger(&forged, sizeof forged);
    for (uint32_t i = 0; i < HOSTS; i++) {
        self[i] = i;
        CHECK(pthread_create(&threads[i], NULL, join, &self[i]) == 0);
    }
    for (int i = 0; i < HOSTS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(outcome[i], RP_OK);
    }
    for (int i = 0; i < HOSTS; i++)
        for (int j = 0; j < i; j++) {
            uint64_t word = (uint64_t)(i * 10 + j), got = 0;
            CHECK(send(sockets[i][j], &word, sizeof word, 0) == sizeof word);
            while (recv(sockets[j][i], &got, sizeof got, 0) < 0)
                usleep(1000);
            CHECK_EQ(got, word);
        }
    /* The liar gets a challenge and no more. */
    ssize_t length = recv(liar, buffer, sizeof buffer, 0);
    CHECK(length == 24 || length <= 0);
    if (length > 0)
        CHECK(recv(liar, buffer, sizeof buffer, 0) <= 0);
    close(silent);
    close(other);
    close(liar);
}
