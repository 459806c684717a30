/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// across: MPICH looks no names up
// about: names that two ranks publish and withdraw, one after another under the same name, while
//     the third looks them up: which it found, and when none was there
#include "check.h"

enum { LOOKS = 8, SERVERS = 2 };
static const char service[] = "reprise-names-test";

static void publish(const char *port, int early)
{
    check_sleep_ms(early ? 5 : 40);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
    check_sleep_ms(20);
    MPI_Unpublish_name(service, MPI_INFO_NULL, port);
}

int main(int argc, char **argv)
{
    char port[SERVERS][MPI_MAX_PORT_NAME] = {{0}}, found[MPI_MAX_PORT_NAME];
    int can = 1;

    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check.rank < SERVERS)
        can = MPI_Open_port(MPI_INFO_NULL, port[check.rank]) == MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!can)
        return check_skip(); // MPICH with UCX cannot, in Debian 12 and 13
    for (int i = 0; i < SERVERS; i++)
        MPI_Bcast(port[i], MPI_MAX_PORT_NAME, MPI_CHAR, i, MPI_COMM_WORLD);
    if (check.rank < SERVERS)
        publish(port[check.rank], (check.order == CHECK_UP) == (check.rank == 0));
    for (int i = 0; i < LOOKS && check.rank == SERVERS; i++) {
        int which = -1;
        check_sleep_ms(check.order == CHECK_UP ? 10 : 15);
        if (MPI_Lookup_name(service, MPI_INFO_NULL, found) == MPI_SUCCESS)
            for (which = 0; which < SERVERS && strcmp(found, port[which]) != 0; which++)
                ;
        check_note(which);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank < SERVERS)
        MPI_Close_port(port[check.rank]);
    return check_end();
}
