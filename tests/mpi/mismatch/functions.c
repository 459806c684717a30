/* SPDX-License-Identifier: MIT */
// ranks: 2
// flags: -g
// about: two ranks call different collective functions on one communicator
// case 118 allreduce barrier: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Allreduce ({allreduce}), rank 1 calls MPI_Barrier ({barrier}), each as collective call 2
//     there
// case 118 allgather barrier: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Allgather ({allgather}), rank 1 calls MPI_Barrier ({barrier}), each as collective call 2
//     there
// case 118 allreduce reduce: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Allreduce ({allreduce}), rank 1 calls MPI_Reduce ({reduce}), each as collective call 2
//     there
// case 118 alltoall allgather: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Alltoall ({alltoall}), rank 1 calls MPI_Allgather ({allgather}), each as collective call
//     2 there
// case 118 bcast reduce: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Bcast ({bcast}), rank 1 calls MPI_Reduce ({reduce}), each as collective call 2 there
// case 118 barrier alltoall: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Barrier ({barrier}), rank 1 calls MPI_Alltoall ({alltoall}), each as collective call 2
//     there
// case 118 scan barrier: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Scan ({scan}), rank 1 calls MPI_Barrier ({barrier}), each as collective call 2 there
// case 118 barrier allreduce: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Barrier ({barrier}), rank 1 calls MPI_Allreduce ({allreduce}), each as collective call 2
//     there
// case 118 reduce bcast: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Reduce ({reduce}), rank 1 calls MPI_Bcast ({bcast}), each as collective call 2 there
// case 118 bcast gather: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Bcast ({bcast}), rank 1 calls MPI_Gather ({gather}), each as collective call 2 there
// case 118 gather gatherv: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Gather ({gather}), rank 1 calls MPI_Gatherv ({gatherv}), each as collective call 2 there
// case 118 gatherv scatter: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Gatherv ({gatherv}), rank 1 calls MPI_Scatter ({scatter}), each as collective call 2
//     there
// case 118 scatter scatterv: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Scatter ({scatter}), rank 1 calls MPI_Scatterv ({scatterv}), each as collective call 2
//     there
// case 118 scatterv allgather: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Scatterv ({scatterv}), rank 1 calls MPI_Allgather ({allgather}), each as collective call
//     2 there
// case 118 allgather allgatherv: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Allgather ({allgather}), rank 1 calls MPI_Allgatherv ({allgatherv}), each as
//     collective call 2 there
// case 118 allgatherv alltoall: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Allgatherv ({allgatherv}), rank 1 calls MPI_Alltoall ({alltoall}), each as
//     collective call 2 there
// case 118 alltoall alltoallv: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Alltoall ({alltoall}), rank 1 calls MPI_Alltoallv ({alltoallv}), each as collective call
//     2 there
// case 118 alltoallv alltoallw: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Alltoallv ({alltoallv}), rank 1 calls MPI_Alltoallw ({alltoallw}), each as
//     collective call 2 there
// case 118 alltoallw scan: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Alltoallw ({alltoallw}), rank 1 calls MPI_Scan ({scan}), each as collective call 2 there
// case 118 scan exscan: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Scan ({scan}), rank 1 calls MPI_Exscan ({exscan}), each as collective call 2 there
// case 118 exscan reduce_scatter: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Exscan ({exscan}), rank 1 calls MPI_Reduce_scatter ({reduce_scatter}), each as
//     collective call 2 there
// case 118 reduce_scatter reduce_scatter_block: error: collective calls do not match on
//     MPI_COMM_WORLD: rank 0 calls MPI_Reduce_scatter ({reduce_scatter}), rank 1 calls
//     MPI_Reduce_scatter_block ({reduce_scatter_block}), each as collective call 2 there
// case 118 reduce_scatter_block comm_dup: error: collective calls do not match on MPI_COMM_WORLD:
//     rank 0 calls MPI_Reduce_scatter_block ({reduce_scatter_block}), rank 1 calls MPI_Comm_dup
//     ({comm_dup}), each as collective call 2 there
// case 118 comm_dup comm_split: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Comm_dup ({comm_dup}), rank 1 calls MPI_Comm_split ({comm_split}), each as
//     collective call 2 there
// case 118 comm_split comm_create: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Comm_split ({comm_split}), rank 1 calls MPI_Comm_create ({comm_create}), each as
//     collective call 2 there
// case 118 comm_create cart_create: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Comm_create ({comm_create}), rank 1 calls MPI_Cart_create ({cart_create}), each as
//     collective call 2 there
// case 118 cart_create file_open: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Cart_create ({cart_create}), rank 1 calls MPI_File_open ({file_open}), each as
//     collective call 2 there
// case 118 file_open ibarrier: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_File_open ({file_open}), rank 1 calls MPI_Ibarrier ({ibarrier}), each as collective call
//     2 there
// case 118 ibarrier iallreduce: error: collective calls do not match on MPI_COMM_WORLD: rank 0
//     calls MPI_Ibarrier ({ibarrier}), rank 1 calls MPI_Iallreduce ({iallreduce}), each as
//     collective call 2 there
// case 118 iallreduce ibcast: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Iallreduce ({iallreduce}), rank 1 calls MPI_Ibcast ({ibcast}), each as collective call 2
//     there
// case 118 ibcast comm_idup: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Ibcast ({ibcast}), rank 1 calls MPI_Comm_idup ({comm_idup}), each as collective call 2
//     there
// case 118 comm_idup barrier: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Comm_idup ({comm_idup}), rank 1 calls MPI_Barrier ({barrier}), each as collective call 2
//     there
// case 118 ibarrier barrier: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Ibarrier ({ibarrier}), rank 1 calls MPI_Barrier ({barrier}), each as collective call 2
//     there
// case 118 ibarrier ibcast: error: collective calls do not match on MPI_COMM_WORLD: rank 0 calls
//     MPI_Ibarrier ({ibarrier}), rank 1 calls MPI_Ibcast ({ibcast}), each as collective call 2
//     there
// case 0 barrier barrier:
// case 0 ibcast ibcast:
#include <mpi.h>
#include <string.h>

static int from[4], to[4], ones[2] = {1, 1}, places[2] = {0, 1}, bytes[2] = {0, 4}, two[1] = {2};
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Comm made;
static MPI_File file;

static void call(const char *what)
{
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Group group;

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    if (!strcmp(what, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD); /* barrier */
    if (!strcmp(what, "allreduce"))
        MPI_Allreduce(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* allreduce */
    if (!strcmp(what, "reduce"))
        MPI_Reduce(from, to, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* reduce */
    if (!strcmp(what, "bcast"))
        MPI_Bcast(from, 1, MPI_INT, 0, MPI_COMM_WORLD); /* bcast */
    if (!strcmp(what, "gather"))
        MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, MPI_COMM_WORLD); /* gather */
    if (!strcmp(what, "gatherv"))
        MPI_Gatherv(from, 1, MPI_INT, to, ones, places, MPI_INT, 0, MPI_COMM_WORLD); /* gatherv */
    if (!strcmp(what, "scatter"))
        MPI_Scatter(from, 1, MPI_INT, to, 1, MPI_INT, 0, MPI_COMM_WORLD); /* scatter */
    if (!strcmp(what, "scatterv"))
        MPI_Scatterv(from, ones, places, MPI_INT, to, 1, MPI_INT, 0, MPI_COMM_WORLD); /* scatterv */
    if (!strcmp(what, "allgather"))
        MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD); /* allgather */
    if (!strcmp(what, "allgatherv"))
        MPI_Allgatherv(/* allgatherv */
                       from, 1, MPI_INT, to, ones, places, MPI_INT, MPI_COMM_WORLD);
    if (!strcmp(what, "alltoall"))
        MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD); /* alltoall */
    if (!strcmp(what, "alltoallv"))
        MPI_Alltoallv(/* alltoallv */
                      from, ones, places, MPI_INT, to, ones, places, MPI_INT, MPI_COMM_WORLD);
    if (!strcmp(what, "alltoallw"))
        MPI_Alltoallw(/* alltoallw */
                      from, ones, bytes, types, to, ones, bytes, types, MPI_COMM_WORLD);
    if (!strcmp(what, "scan"))
        MPI_Scan(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* scan */
    if (!strcmp(what, "exscan"))
        MPI_Exscan(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* exscan */
    if (!strcmp(what, "reduce_scatter"))
        MPI_Reduce_scatter(from, to, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* reduce_scatter */
    if (!strcmp(what, "reduce_scatter_block"))
        MPI_Reduce_scatter_block(/* reduce_scatter_block */
                                 from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(what, "comm_dup"))
        MPI_Comm_dup(MPI_COMM_WORLD, &made); /* comm_dup */
    if (!strcmp(what, "comm_split"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made); /* comm_split */
    if (!strcmp(what, "comm_create"))
        MPI_Comm_create(MPI_COMM_WORLD, group, &made); /* comm_create */
    if (!strcmp(what, "cart_create"))
        MPI_Cart_create(MPI_COMM_WORLD, 1, two, places, 0, &made); /* cart_create */
    if (!strcmp(what, "file_open"))
        MPI_File_open(/* file_open */
                      MPI_COMM_WORLD, "file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file);
    if (!strcmp(what, "ibarrier"))
        MPI_Ibarrier(MPI_COMM_WORLD, &request); /* ibarrier */
    if (!strcmp(what, "iallreduce"))
        MPI_Iallreduce(from, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); /* iallreduce */
    if (!strcmp(what, "ibcast"))
        MPI_Ibcast(from, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); /* ibcast */
    if (!strcmp(what, "comm_idup"))
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request); /* comm_idup */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    call(argv[1 + rank]);
    return MPI_Finalize();
}
