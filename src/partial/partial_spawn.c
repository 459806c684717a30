/* SPDX-License-Identifier: MIT */
/* Spawned jobs: alone, nothing is spawned, and a communicator of this process stands for the one to
 * the children. */
#include "partial/partial_entries.h"
#include "partial/partial_handles.h"
#include "hand.h"

/* What matters at the root only is undefined elsewhere. */
static void record_spawned(const struct rp_function *function, int rc, int root, int processes,
                           MPI_Comm comm, MPI_Comm intercomm, const int *codes)
{
    int rank = -1;

    rp_partial_record_begin(function, true, rp_check(0, root), rc);
    if (rc == MPI_SUCCESS) {
        rp_pmpi.Comm_rank(comm, &rank);
        bool has_codes = codes != MPI_ERRCODES_IGNORE && rank == root;
        rp_partial_record_comm(intercomm);
        rp_partial_record_number(has_codes);
        if (has_codes)
            rp_partial_record_array(codes, (size_t)processes * sizeof *codes);
    }
    rp_partial_record_end();
}

static int feed_spawned(const struct rp_function *function, int root, MPI_Comm comm,
                        MPI_Comm *intercomm, int *codes)
{
    int rc = rp_partial_feed_begin(function, true, rp_check(0, root));

    if (rc == MPI_SUCCESS) {
        rp_partial_feed_comm(comm, intercomm);
        if (rp_partial_feed_number())
            rp_partial_feed_array(codes);
    }
    rp_partial_feed_end();
    if (rp_partial_feed_failed(rc))
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

int rp_partial_record_Comm_spawn(const struct rp_next *next, const char *command, char *argv[],
                                 int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                                 MPI_Comm *intercomm, int codes[])
{
    rp_data_off++;
    int rc = next->Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, codes);
    record_spawned(&rp_f_Comm_spawn, rc, root, maxprocs, comm, *intercomm, codes);
    rp_data_off--;
    return rc;
}

int rp_partial_feed_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info,
                               int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[])
{
    (void)command, (void)argv, (void)maxprocs, (void)info;
    return feed_spawned(&rp_f_Comm_spawn, root, comm, intercomm, codes);
}

int rp_partial_record_Comm_spawn_multiple(const struct rp_next *next, int count, char *commands[],
                                          char **argvs[], const int maxprocs[],
                                          const MPI_Info infos[], int root, MPI_Comm comm,
                                          MPI_Comm *intercomm, int codes[])
{
    int processes = 0, rank = -1;

    rp_data_off++;
    int rc = next->Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm,
                                       intercomm, codes);
    rp_pmpi.Comm_rank(comm, &rank);
    for (int i = 0; rank == root && i < count; i++)
        processes += maxprocs[i];
    record_spawned(&rp_f_Comm_spawn_multiple, rc, root, processes, comm, *intercomm, codes);
    rp_data_off--;
    return rc;
}

int rp_partial_feed_Comm_spawn_multiple(int count, char *commands[], char **argvs[],
                                        const int maxprocs[], const MPI_Info infos[], int root,
                                        MPI_Comm comm, MPI_Comm *intercomm, int codes[])
{
    (void)count, (void)commands, (void)argvs, (void)maxprocs, (void)infos;
    return feed_spawned(&rp_f_Comm_spawn_multiple, root, comm, intercomm, codes);
}
