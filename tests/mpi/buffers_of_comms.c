/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// also: solo
// about: buffers for buffered sends of a communicator, of a session and of the process (MPI 4.1),
//     and waiting until they are empty
#include "check.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41

enum { ROUNDS = 4, TAG = 1, ROOM = 16 * (MPI_BSEND_OVERHEAD + (int)sizeof(long)) };

static MPI_Comm comm;

static void send_all(int round)
{
    long value = check_value(check.rank, round);
    MPI_Request request;

    check_pace(round);
    MPI_Bsend(&value, 1, MPI_LONG, 0, TAG, comm);
    if (round % 2 == 0) {
        MPI_Comm_flush_buffer(comm);
        return;
    }
    MPI_Comm_iflush_buffer(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_all(void)
{
    long value = -1;
    MPI_Status status;

    for (int i = 0; i < ROUNDS * (check.size - 1); i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comm, &status);
        check_note_message(value, &status);
    }
}

static void use_buffer_of_comm(void)
{
    char buffer[ROOM];
    void *back = NULL;
    int size = 0;

    MPI_Comm_attach_buffer(comm, buffer, ROOM);
    for (int round = 0; check.rank > 0 && round < ROUNDS; round++)
        send_all(round);
    if (check.rank == 0)
        receive_all();
    MPI_Comm_detach_buffer(comm, &back, &size);
    CHECK(back == buffer && size == ROOM, "another buffer of %d bytes", size);
}

static void use_buffer_of_process(void)
{
    char buffer[ROOM];
    void *back = NULL;
    int size = 0;
    long value = check.rank, found = -1;
    MPI_Request request;

    MPI_Buffer_attach(buffer, ROOM);
    MPI_Bsend(&value, 1, MPI_LONG, (check.rank + 1) % check.size, TAG, MPI_COMM_WORLD);
    MPI_Recv(&found, 1, MPI_LONG, (check.rank + check.size - 1) % check.size, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    check_note(found);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &size);
    CHECK(back == buffer && size == ROOM, "another buffer of %d bytes", size);
}

static void use_buffer_of_session(void)
{
    char buffer[ROOM];
    void *back = NULL;
    int size = 0;
    MPI_Session session;
    MPI_Request request;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_attach_buffer(session, buffer, ROOM);
    MPI_Session_flush_buffer(session);
    MPI_Session_iflush_buffer(session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &back, &size);
    CHECK(back == buffer && size == ROOM, "another buffer of %d bytes", size);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use_buffer_of_comm();
    use_buffer_of_process();
    use_buffer_of_session();
    MPI_Comm_free(&comm);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
