/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// native: differs
// timeout: 100
// about: each rank spawns a job of its own, in any order; the jobs meet by way of their parents,
//     and race messages among them all
#include <unistd.h>

#include "../check.h"

enum { CHILDREN = 2, ALL = 2 * (CHILDREN + 1), ROUNDS = 3 };

// The first and the last rank take messages of all others.
static void race(MPI_Comm all, int tag)
{
    int rank, size;

    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK(size == ALL, "%d processes", size);
    for (int round = 0; round < ROUNDS; round++)
        for (int taker = 0; taker < size; taker += size - 1) {
            if (rank != taker) {
                long value = check_value(rank, round);
                check_sleep_ms((check.order == CHECK_UP ? rank : size - rank) * 5);
                MPI_Send(&value, 1, MPI_LONG, taker, tag, all);
                continue;
            }
            for (int i = 1; i < size; i++) {
                long value;
                MPI_Status status;
                MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, all, &status);
                check_note(value);
                check_note_status(&status);
            }
        }
}

// `family` is a rank of the launcher and its children.
static void meet(MPI_Comm family, MPI_Comm bridge, int other)
{
    MPI_Comm between, all, half;
    int side = -1;

    MPI_Intercomm_create(family, 0, bridge, other, 5, &between);
    if (check.comm == MPI_COMM_WORLD && bridge == MPI_COMM_WORLD)
        side = check.rank;
    MPI_Bcast(&side, 1, MPI_INT, 0, family);
    MPI_Intercomm_merge(between, side, &all);
    race(all, 6);
    MPI_Comm_split(all, side, 0, &half);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
    MPI_Comm_free(&between);
    MPI_Comm_free(&family);
}

static int be_child(MPI_Comm parent)
{
    MPI_Comm family;
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == CHILDREN, "%d children", size);
    MPI_Intercomm_merge(parent, 1, &family);
    meet(family, MPI_COMM_NULL, 0);
    MPI_Send(&check.hash, 1, MPI_UINT64_T, 0, 9, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    char *words[] = {(char *)"child", NULL};
    MPI_Comm parent, children, family;

    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return be_child(parent);
    check_sleep_ms(((check.order == CHECK_UP) == (check.rank == 0)) * 300); // who spawns first
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], words, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return check_skip();
    MPI_Intercomm_merge(children, 0, &family);
    meet(family, MPI_COMM_WORLD, 1 - check.rank);
    for (int i = 0; i < CHILDREN; i++) {
        uint64_t hash;
        MPI_Recv(&hash, 1, MPI_UINT64_T, i, 9, children, MPI_STATUS_IGNORE);
        check_note((long)hash);
    }
    MPI_Comm_disconnect(&children);
    return check_end();
}
