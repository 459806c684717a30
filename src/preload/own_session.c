/* SPDX-License-Identifier: MIT */
#include "preload/own_session.h"

#include <mpi.h>
#include <stddef.h>

#include "preload/constants.h"
#include "next.h"

#if RP_HAS_SESSIONS
static struct {
    MPI_Session session;
    MPI_Comm world, self;
} own;

static MPI_Comm communicator_of(const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;

    if (rp_pmpi.Group_from_session_pset(own.session, set, &group) != MPI_SUCCESS)
        return rp_constant.comm_null;
    int rc = rp_pmpi.Comm_create_from_group(group, tag, rp_constant.info_null,
                                            rp_constant.errors_return, &comm);
    rp_pmpi.Group_free(&group);
    return rc == MPI_SUCCESS ? comm : rp_constant.comm_null;
}

const char *rp_own_session_open(const char *tag)
{
    if (rp_pmpi.Session_init(rp_constant.info_null, rp_constant.errors_return, &own.session) !=
        MPI_SUCCESS)
        return "no session for reprise";
    own.world = communicator_of("mpi://WORLD", tag);
    if (own.world == rp_constant.comm_null)
        return "no communicator of mpi://WORLD";
    own.self = communicator_of("mpi://SELF", tag);
    if (own.self == rp_constant.comm_null)
        return "no communicator of mpi://SELF";
    rp_constant.world = own.world;
    rp_constant.self = own.self;
    return NULL;
}

void rp_own_session_close(void)
{
    rp_pmpi.Comm_free(&own.self);
    rp_pmpi.Comm_free(&own.world);
    rp_pmpi.Session_finalize(&own.session);
}
#endif
