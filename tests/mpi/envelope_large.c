/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// clocks: 1
// timeout: 120
// about: messages with clocks of 1 and 8 MiB, by types that differ on both sides, in both
//     directions at once
#include "check.h"

enum { LARGEST = 8 << 20 };

// Every other double, as many as fill `bytes`.
static MPI_Datatype comb(int bytes)
{
    MPI_Datatype type;

    MPI_Type_vector(bytes / 8, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static double *make(int bytes, double first)
{
    double *values = malloc((size_t)bytes * 2);

    for (int i = 0; i < bytes / 4; i++)
        values[i] = first + i;
    return values;
}

static void exchange(int bytes, int way)
{
    double *out = make(bytes, check.rank * 1e9), *in = make(bytes, -1e9);
    MPI_Datatype type = comb(bytes);
    MPI_Request requests[2];
    MPI_Status status;
    int other = 1 - check.rank, gaps_out = way & 1, gaps_in = way & 2, step = gaps_out ? 2 : 1,
        count = -1;

    MPI_Irecv(in, gaps_in ? 1 : bytes / 8, gaps_in ? type : MPI_DOUBLE, other, way, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(out, gaps_out ? 1 : bytes, gaps_out ? type : MPI_BYTE, other, way, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Type_free(&type);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == bytes / 8, "%d doubles of %d bytes", count, bytes);
    for (int i = 0; i < bytes / 8; i++) {
        int place = gaps_in ? 2 * i : i;
        CHECK(in[place] == other * 1e9 + step * i, "value %d is %f", i, in[place]);
        CHECK(!gaps_in || i == bytes / 8 - 1 || in[place + 1] == -1e9 + place + 1, "gap %d is %f",
              i, in[place + 1]);
    }
    MPI_Sendrecv_replace(in, bytes / 8, MPI_DOUBLE, other, 9, other, 9, MPI_COMM_WORLD, &status);
    CHECK(gaps_in || in[5] == check.rank * 1e9 + 5 * step, "value 5 came back as %f", in[5]);
    check_note(count);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < 2; round++)
        for (int way = 0; way < 4; way++) {
            exchange(1 << 20, way);
            exchange(LARGEST, way);
        }
    return check_end();
}
