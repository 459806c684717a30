/* SPDX-License-Identifier: MIT */
// ranks: 1
// native: same
// about: a job of one process with a session, and no MPI_Init; MPICH has less of itself running
//     then
#include "check.h"

#if CHECK_HAS_MPI_4
int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    int out = 7, in = -1;

    check.size = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "alone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &request);
    MPI_Send(&out, 1, MPI_INT, 0, 3, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_note(in);
    printf("RESULT hash=%016llx\n", (unsigned long long)check.hash);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return in != out;
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}
#endif
