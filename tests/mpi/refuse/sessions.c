/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// needs: mpi4
// refuses: MPI_Session_init
// about: wildcards on a communicator of an MPI session; the program never calls MPI_Init
#include "check.h"

#if MPI_VERSION >= 4

enum { ROUNDS = 5, TAG = 1 };

static MPI_Comm create(MPI_Session session)
{
    MPI_Comm comm;
    MPI_Group group;

    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "reprise.tests.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

int main(void)
{
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Comm comm = create(session);
    check_attach(comm);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++) {
        check_pace(step);
        check_send(0, TAG, step, comm);
    }
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comm, &status);
        check_note_message(value, &status);
    }
    check_report();
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
