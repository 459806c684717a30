/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: no MPI_Init: two sessions after each other, communicators of groups, wildcard receives on
//     them
#include "check.h"

#if CHECK_HAS_MPI_4
static MPI_Comm communicator_of(MPI_Session session, const char *tag, MPI_Group *group)
{
    MPI_Comm comm;

    MPI_Group_from_session_pset(session, "mpi://WORLD", group);
    MPI_Comm_create_from_group(*group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    return comm;
}

static void receive_all(MPI_Comm comm, int tag)
{
    long value = -1;
    MPI_Status status;

    for (int step = 0; step < 3; step++) {
        if (check.rank > 0) {
            check_pace(step);
            check_send(0, tag, step, comm);
            continue;
        }
        for (int r = 1; r < check.size; r++) {
            MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, comm, &status);
            check_note(value);
            check_note(status.MPI_SOURCE);
        }
    }
}

int main(void)
{
    MPI_Session first, second;
    MPI_Group group, odd;
    MPI_Comm all, half = MPI_COMM_NULL;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    all = communicator_of(first, "test.all", &group);
    check_attach(all);
    receive_all(all, 1);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Group_incl(group, 2, (const int[]){1, 0}, &odd);
    if (check.rank < 2) {
        MPI_Comm_create_from_group(odd, "test.half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &half);
        int rank = -1;
        MPI_Comm_rank(half, &rank);
        CHECK(rank == 1 - check.rank, "rank %d", rank);
        MPI_Comm_free(&half);
    }
    receive_all(all, 2);
    check_report();
    MPI_Comm_free(&all);
    MPI_Group_free(&group);
    MPI_Group_free(&odd);
    MPI_Session_finalize(&first);
    MPI_Session_finalize(&second);
    return 0;
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}
#endif
