/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// about: rank 1 waits until its buffered message, which is long, is gone; rank 0 takes it only
//     after one of rank 2, sent later, that rank 1 might have sent too
#include "check.h"

enum { BYTES = 300000, ROUNDS = 3, LONG = 1, SHORT = 2 };

static void send_buffered(char *out)
{
    int size = BYTES + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)size);

    MPI_Buffer_attach(buffer, size);
    memset(out, 7, BYTES);
    MPI_Bsend(out, BYTES, MPI_CHAR, 0, LONG, MPI_COMM_WORLD);
    memset(out, 0, BYTES);
    MPI_Buffer_detach(&buffer, &size);
    CHECK(size == BYTES + MPI_BSEND_OVERHEAD, "a buffer of %d bytes came back", size);
    free(buffer);
}

static void send_later(void)
{
    int flag;

    for (int i = 0; i < 20; i++) {
        MPI_Iprobe(0, SHORT, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a message from nobody");
    }
    check_pace(0);
    MPI_Send(NULL, 0, MPI_CHAR, 0, SHORT, MPI_COMM_WORLD);
}

static void receive(char *in)
{
    MPI_Status status;

    MPI_Recv(in, 1, MPI_CHAR, MPI_ANY_SOURCE, SHORT, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == 2, "from %d", status.MPI_SOURCE);
    MPI_Recv(in, BYTES, MPI_CHAR, MPI_ANY_SOURCE, LONG, MPI_COMM_WORLD, &status);
    CHECK(check_bytes(&status) == BYTES && in[0] == 7 && in[BYTES - 1] == 7, "another message");
    check_note_status(&status);
}

int main(int argc, char **argv)
{
    static char bytes[BYTES];

    check_start(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) {
        if (check.rank == 0)
            receive(bytes);
        else if (check.rank == 1)
            send_buffered(bytes);
        else
            send_later();
    }
    return check_end();
}
