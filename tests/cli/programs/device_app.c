/* SPDX-License-Identifier: MIT */
/*
 * Messages, exchanges and collectives between buffers in device memory. With an argument, one part
 * of it:
 *   region   receives in a commutative region, whose sum is sent on from device memory
 *   threads  MPI_Sendrecv_replace where several threads may call MPI
 *   later    MPI_Isendrecv_replace, where MPI has it
 *   bottom   a message at MPI_BOTTOM with parts in host and in device memory
 * Where the driver is the one of this test, memory that was freed becomes memory of the host.
 */
#include "check.h"

#include "device_gpu.h"
#include "reprise.h"

enum { LONG = 20000, COLUMN = 40, ROW = 30, TAG = 5 };

static double *device, *other, *host;
static int rank, size;

static void fill(double *to, int count, double first)
{
    for (int i = 0; i < count; i++)
        host[i] = first + i;
    gpu_write(to, host, (size_t)count * sizeof *host);
}

static void note(const double *from, int count)
{
    gpu_read(host, from, (size_t)count * sizeof *host);
    for (int i = 0; i < count; i++)
        check_note((long)(host[i] * 8));
}

static void from_any(int count, int step)
{
    MPI_Status status;

    if (rank != 0) {
        fill(device, count, rank * 1000 + step);
        check_pace(step);
        MPI_Send(device, count, MPI_DOUBLE, 0, TAG + 16 * step, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        fill(device, count, -1);
        MPI_Recv(device, count + 2, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + 16 * step, MPI_COMM_WORLD,
                 &status);
        check_note_status(&status);
        note(device, count);
    }
}

static void requests(int count, int step)
{
    MPI_Request request[64];
    MPI_Status status;
    int index;

    if (rank != 0) {
        fill(device, count, rank * 1000 + step);
        check_pace(step);
        MPI_Isend(device, count, MPI_DOUBLE, 0, TAG + 1 + 16 * step, MPI_COMM_WORLD, request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    fill(device, count * (size - 1), -1);
    for (int i = 1; i < size; i++)
        MPI_Irecv(device + (i - 1) * count, count, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + 1 + 16 * step,
                  MPI_COMM_WORLD, &request[i - 1]);
    for (int i = 1; i < size; i++) {
        MPI_Waitany(size - 1, request, &index, &status);
        check_note(index);
        check_note_status(&status);
        note(device + index * count, count);
    }
}

/* A column of a matrix, and the bytes beside it stay. */
static void columns(void)
{
    MPI_Datatype column;
    MPI_Status status;

    MPI_Type_vector(COLUMN, 2, ROW, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank != 0) {
        fill(device, COLUMN * ROW, rank * 10000);
        check_pace(0);
        MPI_Send(device + 3, 1, column, 0, TAG + 2, MPI_COMM_WORLD);
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        fill(device, COLUMN * ROW, -500);
        MPI_Recv(device + 7, 1, column, MPI_ANY_SOURCE, TAG + 2, MPI_COMM_WORLD, &status);
        check_note_status(&status);
        note(device, COLUMN * ROW);
    }
    MPI_Type_free(&column);
}

static void persistent(void)
{
    MPI_Request request[2];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    MPI_Send_init(device, 100, MPI_DOUBLE, right, TAG + 3, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(other, 100, MPI_DOUBLE, left, TAG + 3, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 3; i++) {
        fill(device, 100, rank * 100 + i);
        fill(other, 100, -1);
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        note(other, 100);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void exchanges(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int count = 1; count < LONG; count = count * 20 + 3) {
        fill(device, count, rank);
        MPI_Sendrecv_replace(device, count, MPI_DOUBLE, right, TAG + 4, left, TAG + 4,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(device, count);
        MPI_Sendrecv(device, count, MPI_DOUBLE, right, TAG + 4, other, count, MPI_DOUBLE, left,
                     TAG + 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(other, count);
    }
}

static void replaced_by_any(void)
{
    MPI_Status status;

    for (int step = 0; step < 4; step++) {
        fill(device, 700, rank * 1000 + step);
        check_pace(step);
        MPI_Sendrecv_replace(device, 700, MPI_DOUBLE, (rank + 1) % size, TAG, MPI_ANY_SOURCE, TAG,
                             MPI_COMM_WORLD, &status);
        check_note_status(&status);
        note(device, 700);
    }
}

static void replaced_later(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;

    for (int step = 0; step < 4; step++) {
        fill(device, 700, rank * 1000 + step);
        MPI_Isendrecv_replace(device, 700, MPI_DOUBLE, (rank + 1) % size, TAG, MPI_ANY_SOURCE, TAG,
                              MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        note(device, 700);
    }
#endif
}

static void collectives(int count)
{
    int all = count * size;

    fill(device, all, rank + 0.125);
    MPI_Bcast(device, count, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    note(device, count);
    fill(device, all, rank + 0.125);
    MPI_Allreduce(device, other, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    note(other, count);
    MPI_Allreduce(MPI_IN_PLACE, other, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    note(other, count);
    fill(other, count, -7);
    MPI_Reduce(device, rank == 2 ? other : NULL, count, MPI_DOUBLE, MPI_SUM, 2, MPI_COMM_WORLD);
    note(other, count);
    MPI_Scan(device, other, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    note(other, count);
    MPI_Exscan(device, other, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0)
        note(other, count);
    MPI_Reduce_scatter_block(device, other, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    note(other, count);
    fill(other, all, rank + 0.5);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, other, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    note(other, count);
    MPI_Gather(device, count, MPI_DOUBLE, other, count, MPI_DOUBLE, 3, MPI_COMM_WORLD);
    note(other, all);
    MPI_Scatter(device, count, MPI_DOUBLE, other, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    note(other, count);
    MPI_Allgather(device, count, MPI_DOUBLE, other, count, MPI_DOUBLE, MPI_COMM_WORLD);
    note(other, all);
    MPI_Alltoall(device, count, MPI_DOUBLE, other, count, MPI_DOUBLE, MPI_COMM_WORLD);
    note(other, all);
}

/* Memory that is freed, and then another. */
static void reused(void)
{
    for (int i = 0; i < 4; i++) {
        double *once = gpu_alloc(4096 * sizeof *once);
        fill(once, 512, rank * i);
        MPI_Sendrecv_replace(once, 512, MPI_DOUBLE, rank ^ 1, TAG, rank ^ 1, TAG, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        note(once, 512);
        gpu_free(once);
        double *now_host = getenv("DRIVER_ASKED") ? once : calloc(4096, sizeof *now_host);
        now_host[1] = rank;
        MPI_Sendrecv_replace(now_host, 512, MPI_DOUBLE, rank ^ 1, TAG, rank ^ 1, TAG,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_note((long)now_host[1]);
    }
}

static void region(int is_careless)
{
    double sum = 0, last = 0;

    if (rank == 0)
        reprise_commutative_begin((unsigned long)(size - 1));
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Recv(device, 100, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        gpu_read(&last, device + 50, sizeof last);
        sum += last;
    }
    if (rank == 0)
        reprise_commutative_end();
    else
        fill(device, 100, rank * 100);
    if (rank != 0)
        MPI_Send(device, 100, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    else
        fill(device, COLUMN * ROW, is_careless ? last : sum);
    if (rank == 0)
        MPI_Send(device, COLUMN * ROW, MPI_DOUBLE, 1, TAG + 1, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(device, COLUMN * ROW, MPI_DOUBLE, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    columns();
    collectives(7);
}

static void exchange(MPI_Datatype type)
{
    int partner = rank ^ 1;

    if (rank % 2) {
        check_pace(0);
        MPI_Send(MPI_BOTTOM, 1, type, partner, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(MPI_BOTTOM, 1, type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void bottom(void)
{
    int lengths[] = {2, 3, 1};
    double mine[2] = {rank, rank + 0.5};
    MPI_Aint places[3];
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE_INT}, made;

    fill(device, 20, rank * 7);
    fill(other, 20, rank * 9);
    MPI_Get_address(mine, &places[0]);
    places[1] = (MPI_Aint)(uintptr_t)(device + 5);
    places[2] = (MPI_Aint)(uintptr_t)(other + 2);
    MPI_Type_create_struct(3, lengths, places, types, &made);
    MPI_Type_commit(&made);
    exchange(made);
    MPI_Type_free(&made);
    gpu_read(host, device, 20 * sizeof *host);
    gpu_read(host + 20, other, 8 * sizeof *host);
    int from = rank | 1; /* who sent it, or has it */
    CHECK(mine[0] == from && mine[1] == from + 0.5, "%g %g of the host", mine[0], mine[1]);
    for (int i = 0; i < 20; i++)
        CHECK(host[i] == (i >= 5 && i < 8 ? from : rank) * 7 + i, "%g in place %d", host[i], i);
    CHECK(host[22] == from * 9 + 2 && host[24] == rank * 9 + 4, "%g %g", host[22], host[24]);
}

static double packed[LONG];

/* What MPI packs of the host's memory is what arrives in the device's, and the other way round. */
static void round_trip(MPI_Datatype type, int count)
{
    MPI_Aint lower, extent;
    int bytes, used = 0, room = 4000;

    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_size(type, &bytes);
    CHECK(count * extent <= room * 8 && bytes * count <= (int)sizeof packed, "too long");
    for (int i = 0; i < room; i++)
        host[i] = rank * 5000 + i;
    gpu_write(device, host, (size_t)room * sizeof *host);
    MPI_Pack(host, count, type, packed, bytes * count, &used, MPI_COMM_WORLD);
    CHECK(used == bytes * count, "%d bytes", used);
    MPI_Sendrecv(device, count, type, rank, TAG, host + room, used, MPI_BYTE, rank, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(memcmp(host + room, packed, (size_t)used) == 0, "sent otherwise");
    for (int i = 0; i < used / 4; i++)
        ((int *)packed)[i] ^= rank + i;
    used = 0;
    MPI_Unpack(packed, bytes * count, &used, host, count, type, MPI_COMM_WORLD);
    MPI_Sendrecv(packed, used, MPI_BYTE, rank, TAG, device, count, type, rank, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    gpu_read(host + room, device, (size_t)room * sizeof *host);
    CHECK(memcmp(host + room, host, (size_t)room * sizeof *host) == 0, "received otherwise");
    check_note(used);
    MPI_Type_free(&type);
}

static void darrays(int order)
{
    int sizes[] = {9, 14, 3}, blocks[] = {2, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
        how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
        parts[] = {2, 2, 1}, some[] = {3, 5, 2}, starts[] = {4, 7, 1};
    MPI_Datatype made;

    MPI_Type_create_darray(4, rank % 4, 3, sizes, how, blocks, parts, order, MPI_DOUBLE, &made);
    round_trip(made, 2);
    MPI_Type_create_subarray(3, sizes, some, starts, order, MPI_FLOAT, &made);
    round_trip(made, 2);
}

static void datatypes(void)
{
    int lengths[] = {2, 0, 3, 1}, places[] = {30, 7, 1, 20};
    MPI_Aint distances[] = {48, 8, 160, 100};
    MPI_Datatype pairs[] = {MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_CHAR, MPI_LONG_INT}, inner, made;

    for (int i = 0; i < 4; i++) {
        MPI_Type_dup(pairs[i], &made);
        round_trip(made, 11);
    }
    MPI_Type_create_struct(4, lengths, distances, pairs, &inner);
    round_trip(inner, 5);
    MPI_Type_create_struct(4, lengths, distances, pairs, &inner);
    MPI_Type_create_resized(inner, 0, 256, &made);
    MPI_Type_free(&inner);
    MPI_Type_contiguous(3, made, &inner);
    MPI_Type_free(&made);
    round_trip(inner, 4);
    MPI_Type_vector(4, 2, 5, MPI_INT, &inner);
    MPI_Type_create_hvector(3, 2, 200, inner, &made);
    MPI_Type_free(&inner);
    round_trip(made, 3);
    MPI_Type_indexed(4, lengths, places, MPI_DOUBLE, &made);
    round_trip(made, 3);
    MPI_Type_create_hindexed(4, lengths, distances, MPI_INT, &made);
    round_trip(made, 6);
    MPI_Type_create_indexed_block(4, 2, places, MPI_SHORT, &made);
    round_trip(made, 6);
    MPI_Type_create_hindexed_block(4, 2, distances, MPI_SHORT, &made);
    round_trip(made, 6);
    darrays(MPI_ORDER_C);
    darrays(MPI_ORDER_FORTRAN);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";

    if (strcmp(part, "threads") == 0)
        check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
    else
        check_start(&argc, &argv);
    gpu_open();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    device = gpu_alloc(4 * LONG * sizeof *device);
    other = gpu_alloc(4 * LONG * sizeof *other);
    host = calloc(4 * LONG, sizeof *host);
    if (strcmp(part, "region") == 0 || strcmp(part, "careless") == 0) {
        region(*part == 'c');
    } else if (strcmp(part, "threads") == 0) {
        replaced_by_any();
    } else if (strcmp(part, "later") == 0) {
        replaced_later();
    } else if (strcmp(part, "bottom") == 0) {
        bottom();
    } else {
        for (int i = 0, count[] = {1, 250, 900, LONG}; i < 4; i++) {
            from_any(count[i], i);
            requests(count[i], i);
        }
        columns();
        datatypes();
        persistent();
        exchanges();
        collectives(5);
        collectives(1201);
        reused();
    }
    CHECK(!gpu.is_hip || gpu.last_error() == 0, "an error is left for the program");
    return check_end();
}
