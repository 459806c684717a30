/* SPDX-License-Identifier: MIT */
// ranks: 4
// natively: 60
// native: differs
// also: solo
// about: a session, then MPI_Init: the last session ends before MPI_Finalize, and wildcard receives
//     on MPI_COMM_WORLD come behind it; an intercommunicator of two groups of the session
#include "check.h"

#if CHECK_HAS_MPI_4
static MPI_Comm between_halves(MPI_Group all)
{
    MPI_Group half[2];
    MPI_Comm inter;
    int own = check.rank >= check.size / 2;

    for (int i = 0; i < 2; i++) {
        int range[1][3] = {{i * check.size / 2, (i + 1) * check.size / 2 - 1, 1}};
        MPI_Group_range_incl(all, 1, range, &half[i]);
    }
    MPI_Intercomm_create_from_groups(half[own], own, half[!own], !own, "test.between",
                                     MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Group_free(&half[0]);
    MPI_Group_free(&half[1]);
    return inter;
}

static void receive_all(int tag, int count, MPI_Comm comm)
{
    long value = -1;
    MPI_Status status;

    for (int i = 0; i < count; i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, comm, &status);
        check_note(value);
        check_note(status.MPI_SOURCE);
    }
}

static void use_between(MPI_Comm inter)
{
    if (check.rank == 0)
        receive_all(2, check.size / 2, inter);
    if (check.rank < check.size / 2)
        return;
    check_pace(1);
    check_send(0, 2, 1, inter);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm all, inter;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Init(&argc, &argv);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test.all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
    check_attach(all);
    inter = between_halves(group);
    use_between(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&all);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    check.comm = MPI_COMM_WORLD;
    if (check.rank == 0)
        receive_all(3, check.size - 1, MPI_COMM_WORLD);
    else
        check_send_paced(0, 3, 2);
    return check_end();
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}
#endif
