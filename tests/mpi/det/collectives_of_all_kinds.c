/* SPDX-License-Identifier: MIT */
// ranks: 4
// about: right programs that look wrong: operations of the program that each rank makes in another
//     order, roots between groups, requests that are freed and whose handles come back, collective
//     calls of many kinds under way at once, ranks that call in other places: none of it is an
//     error
#include "check.h"

static int values[16], sums[16];

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void operations(void)
{
    MPI_Op ops[5];

    for (int i = 0; i <= check.rank; i++)
        MPI_Op_create(add, 1, &ops[i]);
    for (int i = 0; i < 3; i++)
        if (check.rank % 2) /* the same call in two places */
            MPI_Allreduce(values, sums, 2, MPI_INT, ops[check.rank], MPI_COMM_WORLD);
        else
            MPI_Allreduce(values, sums, 2, MPI_INT, ops[i % (check.rank + 1)], MPI_COMM_WORLD);
    check_note(sums[0]);
    for (int i = 0; i <= check.rank; i++)
        MPI_Op_free(&ops[i]);
}

static void between_groups(void)
{
    MPI_Comm half, both, merged;
    int side = check.rank / 2;

    MPI_Comm_split(MPI_COMM_WORLD, side, check.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : 2, 3, &both);
    for (int root = 0; root < 4; root++) {
        int said = root / 2 != side ? root % 2 : root == check.rank ? MPI_ROOT : MPI_PROC_NULL;
        MPI_Bcast(values, 1, MPI_INT, said, both);
        MPI_Gather(values, 1, MPI_INT, sums, 1, MPI_INT, said, both);
        MPI_Reduce(values, sums, 1, MPI_INT, MPI_MAX, said, both);
    }
    MPI_Barrier(both);
    MPI_Intercomm_merge(both, side, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(side ? &merged : &both); /* in any order */
    MPI_Comm_free(side ? &both : &merged);
    MPI_Comm_free(&half);
}

static void under_way(void)
{
    MPI_Request requests[6];
    MPI_Comm copy;

    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(values, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibcast(values + 4, 0, MPI_INT, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Ibcast(values + 5, 0, MPI_INT, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[4]);
    MPI_Scan(values, sums + 2, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[5]);
    for (int i = 0; i < 6; i++)
        MPI_Wait(&requests[check.rank % 2 ? i : 5 - i], MPI_STATUS_IGNORE);
    MPI_Exscan(values, sums + 3, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
}

/* Handles come back, and are as good as new. */
static void handles(void)
{
    MPI_Request requests[8], freed;
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size,
        flag;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? before : MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                      &requests[i]);
        for (int i = 4; i < 8; i++)
            MPI_Isend(&sums[i], 1, MPI_INT, i == 7 ? MPI_PROC_NULL : next, i - 4, MPI_COMM_WORLD,
                      &requests[i]);
        MPI_Isend(&sums[8], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &freed);
        MPI_Request_free(&freed);
        MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[4], MPI_STATUS_IGNORE); /* null by now */
        for (flag = 0; !flag;)
            MPI_Testall(8, requests, &flag, MPI_STATUSES_IGNORE);
        MPI_Recv_init(&values[0], 1, MPI_INT, before, 9, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(&values[1], 1, MPI_INT, round % 2 ? next : MPI_PROC_NULL, 9, MPI_COMM_WORLD,
                      &requests[1]);
        if (round % 2)
            MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++)
            MPI_Request_free(&requests[i]);
    }
}

static void persistent(void)
{
#if CHECK_HAS_MPI_4
    MPI_Request requests[2];

    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(values, sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[1]);
    for (int i = 0; i < 6; i++) {
        MPI_Start(&requests[i % 2]);
        MPI_Bcast(values, 1, MPI_INT, i % 4, MPI_COMM_WORLD);
        MPI_Wait(&requests[i % 2], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
#endif
#if MPI_VERSION >= 4
    MPI_Bcast_c(values, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (check.rank % 2)
        MPI_Bcast_c(values, 1, MPI_INT, 2, MPI_COMM_WORLD);
    else
        MPI_Bcast(values, 1, MPI_INT, 2, MPI_COMM_WORLD);
#endif
}

static void of_few(void)
{
    MPI_Comm row, some;
    MPI_Group all, part;
    int ranks[] = {1, 3};

    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, check.rank, &row);
    if (check.rank % 2)
        MPI_Barrier(row);
    else
        MPI_Bcast(values, 1, MPI_INT, 1, row);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, ranks, &part);
    if (check.rank % 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 5, &some);
        MPI_Allgather(values, 1, MPI_INT, sums, 1, MPI_INT, some);
        MPI_Comm_free(&some);
    }
    MPI_Comm_free(&row);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < 16; i++)
        values[i] = sums[i] = check.rank + i;
    for (int round = 0; round < 3; round++) {
        operations();
        between_groups();
        under_way();
        handles();
        persistent();
        of_few();
    }
    return check_end();
}
