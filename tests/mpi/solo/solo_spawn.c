/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 240
// about: ranks that spawn, and ranks that connect to each other, run alone
#include "check.h"

static void be_child(MPI_Comm parent)
{
    long sum = 0, own = check.rank + 1;
    int size;

    check_pace(1);
    check_send(0, 1, 0, parent);
    MPI_Comm_remote_size(parent, &size);
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, parent);
    check_note(size);
    check_note(sum);
    MPI_Send(&check.hash, 1, MPI_UINT64_T, 0, 9, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
}

static void connect_ranks(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    long value = -1;
    MPI_Status status;

    if (check.rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    check_send(0, 4, 0, other);
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 4, other, &status);
    check_note(value);
    check_note_status(&status);
    MPI_Comm_disconnect(&other);
    if (check.rank == 0)
        MPI_Close_port(port);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int codes[3] = {-1, -1, -1};
    long own = 100, sum;

    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent);
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       codes) != MPI_SUCCESS)
        return check_skip(); // MPICH with UCX cannot, in Debian 12 and 13
    for (int i = 0; check.rank == 0 && i < 3; i++) {
        long value;
        MPI_Status status;
        CHECK(codes[i] == MPI_SUCCESS, "code %d", codes[i]);
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, children, &status);
        check_note(value);
        check_note_status(&status);
    }
    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, children);
    check_note(sum);
    for (int i = 0; check.rank == 0 && i < 3; i++) {
        uint64_t hash;
        MPI_Recv(&hash, 1, MPI_UINT64_T, i, 9, children, MPI_STATUS_IGNORE);
        check_note((long)hash);
    }
    MPI_Comm_disconnect(&children);
    connect_ranks();
    return check_end();
}
