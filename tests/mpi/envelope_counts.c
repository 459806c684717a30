/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// clocks: 1
// about: what probes and statuses say of messages with clocks: lengths, parts of elements,
//     truncation, nobody, itself, callbacks, types that are not committed
#include "check.h"

enum { TAG = 5, SHORT = 1 };

// MPICH 4.0 does not receive long messages of bytes by such a type, even without clocks.
#ifdef OPEN_MPI
enum { LONG = 20000 };
#else
enum { LONG = 100 };
#endif

static MPI_Datatype pair; // an int and a double, with a gap

static void make_pair(void)
{
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};

    MPI_Type_create_struct(2, (int[]){1, 1}, places, parts, &pair);
    MPI_Type_commit(&pair);
}

static void expect(const MPI_Status *status, int bytes, int count, int elements)
{
    int got = -7, got_elements = -7;
    MPI_Count large = -7;

    CHECK(check_bytes(status) == bytes, "%d bytes, not %d", check_bytes(status), bytes);
    MPI_Get_count(status, pair, &got);
    MPI_Get_elements(status, pair, &got_elements);
    MPI_Get_elements_x(status, pair, &large);
    CHECK(got == count && got_elements == elements && large == elements,
          "count %d, elements %d and %lld, not %d and %d", got, got_elements, (long long)large,
          count, elements);
    check_note(got_elements);
}

// A message of `full` pairs and, if `part`, the int of another.
static void send_pairs(int full, int part)
{
    char *bytes = calloc((size_t)full + 1, 12);

    for (int i = 0; i < full * 12 + 4; i++)
        bytes[i] = (char)(i * 7 + 1);
    MPI_Send(bytes, full * 12 + part * 4, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    free(bytes);
}

static void check_pairs(const char *pairs, int full, int part)
{
    for (int i = 0; i < full * 12 + part * 4; i++) {
        int within = i % 12, place = i / 12 * 16 + (within < 4 ? within : within + 4);
        CHECK(pairs[place] == (char)(i * 7 + 1), "byte %d is %d", i, pairs[place]);
    }
    for (int i = 0; i < full; i++)
        CHECK(pairs[i * 16 + 4] == 0x55, "the gap of %d was written", i);
    CHECK(part || pairs[full * 16] == 0x55, "what follows was written");
    CHECK(pairs[full * 16 + 8] == 0x55, "what follows was written");
}

static void receive_pairs(int full, int part, int way)
{
    char *pairs = malloc((size_t)(full + 2) * 16);
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    int flag = 0;

    memset(pairs, 0x55, (size_t)(full + 2) * 16);
    if (way == 0) {
        MPI_Probe(0, TAG, MPI_COMM_WORLD, &status);
        expect(&status, full * 12 + part * 4, part ? MPI_UNDEFINED : full, 2 * full + part);
        MPI_Recv(pairs, full + 2, pair, 0, TAG, MPI_COMM_WORLD, &status);
    } else if (way == 1) {
        MPI_Irecv(pairs, full + 2, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Request_get_status(request, &flag, &status);
        expect(&status, full * 12 + part * 4, part ? MPI_UNDEFINED : full, 2 * full + part);
        check_pairs(pairs, full, part); // already there
        MPI_Wait(&request, &status);
    } else if (way == 2) {
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &status);
        expect(&status, full * 12 + part * 4, part ? MPI_UNDEFINED : full, 2 * full + part);
        MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(pairs, full + 2, pair, &message, &status);
    } else {
        MPI_Recv(pairs, full + 2, pair, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_pairs(pairs, full, part);
        free(pairs);
        return;
    }
    expect(&status, full * 12 + part * 4, part ? MPI_UNDEFINED : full, 2 * full + part);
    check_pairs(pairs, full, part);
    free(pairs);
}

static void truncate(int sent, int room, int way)
{
    char *bytes = calloc((size_t)sent + 16, 1);
    MPI_Status status;
    MPI_Request request;
    int rc;

    if (check.rank == 0) {
        memset(bytes, 3, (size_t)sent);
        MPI_Send(bytes, sent, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else if (way == 0) {
        rc = MPI_Recv(bytes, room, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status);
        CHECK(check_error_class(rc) == MPI_ERR_TRUNCATE, "class %d", check_error_class(rc));
    } else if (way == 1) {
        MPI_Irecv(bytes, room, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(check_error_class(rc) == MPI_ERR_TRUNCATE, "class %d", check_error_class(rc));
    } else {
        MPI_Irecv(bytes, room, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
        rc = MPI_Waitall(1, &request, &status);
        CHECK(check_error_class(rc) == MPI_ERR_IN_STATUS &&
                  check_error_class(status.MPI_ERROR) == MPI_ERR_TRUNCATE,
              "class %d", check_error_class(rc));
    }
    for (int i = room; check.rank == 1 && i < sent + 16; i++)
        CHECK(bytes[i] == 0, "byte %d was written", i);
    free(bytes);
}

static void nobody(void)
{
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Message message;
    int value = 7;

    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    CHECK(check_bytes(&status) == 0 && status.MPI_SOURCE == MPI_PROC_NULL && value == 7,
          "%d bytes from nobody", check_bytes(&status));
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &message, &status);
    CHECK(check_bytes(&status) == 0, "%d bytes from nobody", check_bytes(&status));
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    CHECK(value == 7 && check_bytes(&status) == 0, "nobody sent something");
}

static void itself(void)
{
    int parts[2] = {check.rank, 5}, value = -1;
    MPI_Aint address;
    MPI_Datatype from_bottom;
    MPI_Status status;
    MPI_Request request;

    MPI_Get_address(parts, &address);
    MPI_Type_create_hindexed(1, (int[]){2}, &address, MPI_INT, &from_bottom);
    MPI_Type_commit(&from_bottom);
    MPI_Irecv(&value, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(&check.rank, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK(value == check.rank && check_bytes(&status) == 4, "%d from itself", value);
    MPI_Sendrecv_replace(parts, 2, MPI_INT, 1 - check.rank, TAG, 1 - check.rank, TAG,
                         MPI_COMM_WORLD, &status);
    CHECK(parts[0] == 1 - check.rank && parts[1] == 5 && check_bytes(&status) == 8,
          "%d %d from the other", parts[0], parts[1]);
    parts[1] = 100 + check.rank;
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, from_bottom, 1 - check.rank, TAG, 1 - check.rank, TAG,
                         MPI_COMM_WORLD, &status);
    CHECK(parts[0] == check.rank && parts[1] == 101 - check.rank && check_bytes(&status) == 8,
          "%d %d from the other", parts[0], parts[1]);
    MPI_Type_free(&from_bottom);
}

// Messages that a callback exchanges while a completion call runs it.
static int exchange_inside(void *extra, MPI_Status *status)
{
    int out = 10 + check.rank;
    MPI_Request request;

    MPI_Isend(&out, 1, MPI_INT, 1 - check.rank, TAG + 1, MPI_COMM_WORLD, &request);
    MPI_Recv(extra, 1, MPI_INT, 1 - check.rank, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int free_nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void callback(void)
{
    int inside = -1, outside = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Irecv(&outside, 1, MPI_INT, 1 - check.rank, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Grequest_start(exchange_inside, free_nothing, cancel_nothing, &inside, &requests[1]);
    MPI_Grequest_complete(requests[1]);
    MPI_Send(&check.rank, 1, MPI_INT, 1 - check.rank, TAG, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, statuses);
    CHECK(outside == 1 - check.rank && inside == 11 - check.rank && check_bytes(&statuses[0]) == 4,
          "%d outside, %d inside", outside, inside);
}

static void uncommitted(void)
{
    MPI_Datatype type;
    int values[3] = {0}, rc;

    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    rc = MPI_Send(values, 1, type, 1 - check.rank, TAG, MPI_COMM_WORLD);
    CHECK(check_error_class(rc) == MPI_ERR_TYPE, "class %d", check_error_class(rc));
    MPI_Type_commit(&type);
    MPI_Sendrecv_replace(values, 1, type, 1 - check.rank, TAG, 1 - check.rank, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_pair();
    for (int way = 0; way < 4; way++)
        for (int full = 0; full <= LONG; full = full * 9 + SHORT)
            for (int part = 0; part < 2; part++)
                if (check.rank == 0)
                    send_pairs(full, part);
                else
                    receive_pairs(full, part, way);
    for (int way = 0; way < 3; way++) {
        truncate(1, 0, way);
        truncate(100, 99, way);
        truncate(3000, 7, way);
    }
    nobody();
    itself();
    callback();
    uncommitted();
    MPI_Type_free(&pair);
    return check_end();
}
