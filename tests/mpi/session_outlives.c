/* SPDX-License-Identifier: MIT */
// ranks: 4
// natively: 60
// native: differs
// also: solo
// about: a session that begins before MPI_Init and ends behind MPI_Finalize: some ranks call these
//     while another still receives from anyone
#include "check.h"

#if CHECK_HAS_MPI_4
static void receive_all(int tag, MPI_Comm comm)
{
    long value = -1;
    MPI_Status status;

    if (check.rank > 0) {
        check_pace(tag);
        check_send(0, tag, tag, comm);
        return;
    }
    for (int i = 1; i < check.size; i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, comm, &status);
        check_note(value);
        check_note(status.MPI_SOURCE);
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm all;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test.all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    check_attach(all);
    receive_all(1, all);
    MPI_Init(&argc, &argv);
    receive_all(2, MPI_COMM_WORLD);
    MPI_Finalize();
    receive_all(3, all);
    check_report();
    MPI_Comm_free(&all);
    MPI_Group_free(&group);
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
