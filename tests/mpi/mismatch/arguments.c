/* SPDX-License-Identifier: MIT */
// ranks: 3
// flags: -g
// about: all ranks call the same functions, but with another root or operation, in another order,
//     or on files and communicators of few
// case 118 root: rank 2 calls MPI_Bcast with root 1 ({bcast}), each as collective call 3 there
// case 118 reduce: calls MPI_Reduce with MPI_SUM ({reduce}), rank 2 calls MPI_Reduce with MPI_PROD
//     ({reduce})
// case 118 allreduce: calls MPI_Allreduce with MPI_SUM ({allreduce}), rank 2 calls MPI_Allreduce
//     with MPI_MAX ({allreduce})
// case 118 iallreduce: rank 2 calls MPI_Iallreduce with MPI_MAX ({iallreduce})
// case 118 commutes: rank 2 calls MPI_Allreduce with an operation of the program that does not
//     commute ({own})
// case 118 predefined: rank 2 calls MPI_Allreduce with MPI_SUM ({own})
// case 118 order: rank 2 calls MPI_Bcast ({early}), each as collective call 3 there
// case 118 pair: collective calls do not match on a pair: rank 1 calls MPI_Barrier
//     ({pair_barrier}), rank 2 calls MPI_Allgather ({pair_allgather}), each as collective call 1
//     there
// case 118 free: calls MPI_Comm_free ({free}), rank 2 calls MPI_Barrier ({not_free}), each as
//     collective call 1 there
// case 118 between: rank 1 calls MPI_Bcast with MPI_ROOT ({between})
// case 118 file: on a file: rank 0 calls MPI_File_write_all ({write}), rank 1 calls
//     MPI_File_read_all ({read})
// case 118 persistent: rank 2 calls MPI_Bcast_init ({bcast_init})
// case 119 crossed: error: deadlock in MPI_
// case 119 ended: error: deadlock in MPI_Allreduce
// case 119 receives: error: deadlock in MPI_Alltoall
// case 0 right:
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, from[8], to[8];
static MPI_Comm pair, some;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void reduce_by(MPI_Op op)
{
    MPI_Allreduce(from, to, 1, MPI_INT, op, MPI_COMM_WORLD); /* own */
}

/* Operations of the program are made in another order and number in each rank. */
static void operations(const char *what, int is_other)
{
    MPI_Op ops[4];

    for (int i = 0; i <= rank; i++)
        MPI_Op_create(add, !(is_other && !strcmp(what, "commutes")), &ops[i]);
    reduce_by(is_other && !strcmp(what, "predefined") ? MPI_SUM : ops[rank]);
    for (int i = 0; i <= rank; i++)
        MPI_Op_free(&ops[i]);
}

static void in_order(int is_other)
{
    if (is_other)
        MPI_Bcast(from, 1, MPI_INT, 0, MPI_COMM_WORLD); /* early */
    MPI_Barrier(MPI_COMM_WORLD);
    if (!is_other)
        MPI_Bcast(from, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void among_two(const char *what, int is_other)
{
    if (rank == 0)
        return;
    if (!strcmp(what, "pair") && is_other)
        MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, pair); /* pair_allgather */
    else if (!strcmp(what, "pair"))
        MPI_Barrier(pair); /* pair_barrier */
    else if (is_other)
        MPI_Barrier(pair); /* not_free */
    else
        MPI_Comm_free(&pair); /* free */
}

/* Ranks 0 and 1 on one side: both take themselves for the root, if that is wrong. */
static void between_groups(int is_wrong)
{
    MPI_Comm both;
    int root = rank == 0 || (is_wrong && rank == 1) ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;

    MPI_Intercomm_create(some, 0, MPI_COMM_WORLD, rank == 2 ? 0 : 2, 4, &both);
    MPI_Bcast(from, 1, MPI_INT, root, both); /* between */
    MPI_Comm_free(&both);
}

static void on_file(int is_other)
{
    MPI_File file;

    MPI_File_open(rank == 2 ? MPI_COMM_SELF : some, rank == 2 ? "other" : "file",
                  MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (is_other)
        MPI_File_read_all(file, to, 1, MPI_INT, MPI_STATUS_IGNORE); /* read */
    else
        MPI_File_write_all(file, from, 1, MPI_INT, MPI_STATUS_IGNORE); /* write */
    MPI_File_close(&file);
}

static void persistent(int is_other)
{
#if CHECK_HAS_MPI_4
    MPI_Request request;

    if (is_other)
        MPI_Bcast_init(/* bcast_init */
                       from, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#else
    (void)is_other;
    if (rank == 0)
        printf("SKIP: no persistent collectives\n");
#endif
}

static void waits(const char *what, int is_other)
{
    MPI_Comm copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (!strcmp(what, "crossed")) {
        MPI_Barrier(is_other ? copy : MPI_COMM_WORLD);
        MPI_Barrier(is_other ? MPI_COMM_WORLD : copy);
    } else if (!is_other && !strcmp(what, "ended")) {
        MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (!is_other) {
        MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD);
    } else if (!strcmp(what, "receives")) {
        MPI_Recv(to, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void reductions(const char *what, int is_other)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (!strcmp(what, "reduce"))
        MPI_Reduce(/* reduce */
                   from, to, 1, MPI_INT, is_other ? MPI_PROD : MPI_SUM, 1, MPI_COMM_WORLD);
    else if (!strcmp(what, "allreduce"))
        MPI_Allreduce(/* allreduce */
                      from, to, 1, MPI_INT, is_other ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Iallreduce(/* iallreduce */
                       from, to, 1, MPI_INT, is_other ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD,
                       &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call(const char *what, int is_other)
{
    if (!strcmp(what, "root"))
        MPI_Bcast(from, 1, MPI_INT, is_other, MPI_COMM_WORLD); /* bcast */
    else if (strstr(what, "reduce"))
        reductions(what, is_other);
    else if (!strcmp(what, "commutes") || !strcmp(what, "predefined"))
        operations(what, is_other);
    else if (!strcmp(what, "order"))
        in_order(is_other);
    else if (!strcmp(what, "pair") || !strcmp(what, "free"))
        among_two(what, is_other);
    else if (!strcmp(what, "between"))
        between_groups(1);
    else if (!strcmp(what, "file"))
        on_file(rank == 1);
    else if (!strcmp(what, "persistent"))
        persistent(is_other);
    else
        waits(what, is_other);
}

static void all_right(void)
{
    static const char *const all[] = {"root",  "reduce", "allreduce",  "iallreduce", "commutes",
                                      "order", "file",   "persistent", "crossed",    "pair"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], "file"))
            call(all[i], 0);
    between_groups(0);
    on_file(0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &pair);
    MPI_Comm_set_name(pair, "a pair");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &some);
    if (strcmp(argv[1], "right"))
        call(argv[1], rank == 2);
    else
        all_right();
    return MPI_Finalize();
}
