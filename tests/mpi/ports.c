/* SPDX-License-Identifier: MIT */
// ranks: 3
// natively: 60
// native: differs
// across: MPICH looks no names up
// timeout: 240
// about: clients race to connect to a port; a name is looked up until it is published; two
//     processes join by a socket
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

static const char service[] = "reprise-ports-test";

static void serve(const char *port)
{
    for (int i = 1; i < check.size; i++) {
        MPI_Comm client;
        long value;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client);
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, client, MPI_STATUS_IGNORE);
        check_note(value);
        MPI_Send(&value, 1, MPI_LONG, 0, 2, client);
        MPI_Comm_disconnect(&client);
    }
}

static void connect_to(const char *port)
{
    MPI_Comm server;
    long value = 0;

    for (int i = 0; i < 40; i++) // of clients that connect at once, Open MPI 4.1 loses some
        check_pace(1);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server);
    check_send(0, 1, 0, server);
    MPI_Recv(&value, 1, MPI_LONG, 0, 2, server, MPI_STATUS_IGNORE);
    CHECK(value == check_value(check.rank, 0), "answer %ld", value);
    MPI_Comm_disconnect(&server);
}

// Rank 1 does so until the name is there. The port is the one of this run.
static void find(const char *published)
{
    char port[MPI_MAX_PORT_NAME] = "";
    long misses = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS && ++misses)
        check_sleep_ms(check.order == CHECK_UP ? 5 : 7);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(strcmp(port, published) == 0, "found %s, not %s", port, published);
    check_note(misses);
}

// Of a connection over the loopback between ranks 0 and 1.
static int socket_to(int rank)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), port;

    if (rank == 1) {
        bind(fd, (struct sockaddr *)&address, length);
        listen(fd, 1);
        getsockname(fd, (struct sockaddr *)&address, &length);
        port = address.sin_port;
        MPI_Send(&port, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
        int accepted = accept(fd, NULL, NULL);
        close(fd);
        return accepted;
    }
    MPI_Recv(&port, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    address.sin_port = (in_port_t)port;
    CHECK(connect(fd, (struct sockaddr *)&address, length) == 0, "cannot connect");
    return fd;
}

static void join(void)
{
    MPI_Comm other;
    long value;
    MPI_Status status;
    int fd = socket_to(1 - check.rank);

    MPI_Comm_join(fd, &other);
    close(fd);
    check_send(0, 6, 3, other);
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status);
    check_note(value);
    check_note_status(&status);
    MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int can = 1;

    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check.rank == 0)
        can = MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS;
    MPI_Bcast(&can, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!can)
        return check_skip(); // MPICH with UCX cannot, in Debian 12 and 13
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        serve(port);
    else
        connect_to(port);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        check_sleep_ms(check.order == CHECK_UP ? 20 : 60);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
    } else if (check.rank == 1) {
        find(port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
    if (check.rank < 2)
        join();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        MPI_Close_port(port);
    return check_end();
}
