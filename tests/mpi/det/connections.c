/* SPDX-License-Identifier: MIT */
// ranks: 5
// natively: 60
// native: differs
// timeout: 200
// about: clients of one rank and of two race to a port at which two ranks accept, while messages
//     from any rank are under way on MPI_COMM_WORLD; who finds a name before it is withdrawn
#include "../check.h"

enum { TIMES = 3, CLIENTS = 2, TAG = 1, WORLD = 2 };
static const char service[] = "reprise-connections-test";

// Rank 0 of each client's group sends, and all of both sides reduce.
static void talk(MPI_Comm with, int is_server, int number)
{
    MPI_Comm all;
    MPI_Status status;
    int rank, size;

    MPI_Intercomm_merge(with, !is_server, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    if (rank == 0) {
        for (int i = 1; i < size; i++) {
            long value;
            MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, all, &status);
            check_note(value);
            check_note_status(&status);
        }
    } else {
        check_sleep_ms((check.order == CHECK_UP ? rank : size - rank) * 5);
        check_send(0, TAG, number, all);
    }
    MPI_Comm_free(&all);
}

static void serve(const char *port, MPI_Comm servers)
{
    for (int i = 0; i < CLIENTS * TIMES; i++) {
        MPI_Comm client;
        int size;
        MPI_Comm_accept(port, MPI_INFO_NULL, 1, servers, &client);
        MPI_Comm_remote_size(client, &size);
        check_note(size); // who it is
        talk(client, 1, i);
        MPI_Comm_disconnect(&client);
    }
}

static void connect_to(const char *port, MPI_Comm group)
{
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm server;
        check_sleep_ms(check.order == CHECK_UP ? check.rank * 8 : (5 - check.rank) * 8);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, group, &server);
        talk(server, 0, i);
        MPI_Comm_disconnect(&server);
    }
}

// Rank 0 publishes it for a while, the others look as often, one of them later.
static void look(const char *port)
{
    char found[MPI_MAX_PORT_NAME];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 12; i++) {
        check_sleep_ms(check.order == CHECK_UP ? check.rank : 5 - check.rank);
        if (check.rank == 0 && i == 4)
            MPI_Publish_name(service, MPI_INFO_NULL, port);
        else if (check.rank == 0 && i == 8)
            MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        else if (check.rank > 0)
            check_note(MPI_Lookup_name(service, MPI_INFO_NULL, found) == MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int can = 1;
    MPI_Comm group;

    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check.rank == 1)
        can = MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS;
    MPI_Bcast(&can, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (!can)
        return check_skip(); // MPICH with UCX cannot, in Debian 12 and 13
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 1, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank / 2, check.rank, &group); // {0, 1} {2, 3} {4}
    if (check.rank / 2 == 0)
        serve(port, group);
    else
        connect_to(port, group);
    if (check.rank == 0) {
        for (int i = 1; i < check.size; i++) {
            long value;
            MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, WORLD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_note(value);
        }
    } else {
        check_send(0, WORLD, check.rank, MPI_COMM_WORLD);
    }
    look(port);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&group);
    if (check.rank == 1)
        MPI_Close_port(port);
    return check_end();
}
