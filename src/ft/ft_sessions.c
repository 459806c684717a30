/* SPDX-License-Identifier: MIT */
/*
 * Sessions. A handle is that of a real session, which only this process knows: MPI has been
 * initialised before (ft_init.c), so that making one sends no messages. Error handlers, infos and
 * conversions are left to MPI. Sets of processes are not: its own hold the spares, too, and who is
 * dead. There are two, of the ranks that the program has.
 */
#include "ft/ft_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ft/ft_abort.h"
#include "ft/ft_comms.h"
#include "ft/ft_state.h"
#include "reprise.h"

struct session {
    MPI_Session handle;
    bool in_loop; /* opened after the setup */
    struct session *next;
};

static struct session *sessions;

static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { SETS = sizeof sets / sizeof *sets };

/* At most one thread calls MPI at a time. */
static void limit_level(MPI_Info info)
{
    char level[32] = "";
    int flag = 0;

    rp_real.Info_get(info, "thread_level", sizeof level - 1, level, &flag);
    if (flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0)
        rp_real.Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED");
}

static MPI_Info copy_with_level(MPI_Info info)
{
    MPI_Info copy = MPI_INFO_NULL;

    if (info == MPI_INFO_NULL)
        return copy;
    rp_real.Info_dup(info, &copy);
    limit_level(copy);
    return copy;
}

int rp_ft_session_open(MPI_Info info, MPI_Errhandler handler, MPI_Session *out)
{
    MPI_Info copy = copy_with_level(info);
    int error = rp_real.Session_init(copy, handler, out);

    if (copy != MPI_INFO_NULL)
        rp_real.Info_free(&copy);
    if (error != MPI_SUCCESS)
        return error;
    struct session *session = rp_ft_alloc(sizeof *session);
    *session = (struct session){*out, !rp_ft.in_setup, sessions};
    sessions = session;
    return MPI_SUCCESS;
}

static void drop(struct session **link)
{
    struct session *session = *link;

    *link = session->next;
    free(session);
}

int rp_ft_Session_finalize(MPI_Session *handle)
{
    for (struct session **link = &sessions; *link; link = &(*link)->next)
        if ((*link)->handle == *handle) {
            drop(link);
            break;
        }
    return rp_real.Session_finalize(handle);
}

bool rp_ft_sessions_are_open(void)
{
    return sessions != NULL;
}

bool rp_ft_sessions_has_of_loop(void)
{
    for (const struct session *session = sessions; session; session = session->next)
        if (session->in_loop)
            return true;
    return false;
}

void rp_ft_sessions_forget_loop(void)
{
    for (struct session **link = &sessions; *link;)
        if ((*link)->in_loop) {
            rp_real.Session_finalize(&(*link)->handle);
            drop(link);
        } else {
            link = &(*link)->next;
        }
}

static int report(MPI_Session session, int error)
{
    rp_real.Session_call_errhandler(session, error);
    return error;
}

/* Returns the number of a set, or -1. Names of MPI's own do not depend on the case. */
static int set_of(const char *name)
{
    for (int i = 0; name && i < SETS; i++)
        if (strcasecmp(name, sets[i]) == 0)
            return i;
    return -1;
}

int rp_ft_Session_get_info(MPI_Session session, MPI_Info *used)
{
    int error = rp_real.Session_get_info(session, used);

    if (error == MPI_SUCCESS)
        limit_level(*used);
    return error;
}

int rp_ft_Session_get_num_psets(MPI_Session session, MPI_Info info, int *count)
{
    (void)session, (void)info;
    *count = SETS;
    return MPI_SUCCESS;
}

/* `room` 0 asks for the length of the name. */
int rp_ft_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *room, char *name)
{
    (void)info;
    if (n < 0 || n >= SETS)
        return report(session, MPI_ERR_ARG);
    if (*room > 0)
        snprintf(name, (size_t)*room, "%s", sets[n]);
    *room = (int)strlen(sets[n]) + 1;
    return MPI_SUCCESS;
}

int rp_ft_Session_get_pset_info(MPI_Session session, const char *name, MPI_Info *out)
{
    int set = set_of(name);
    char size[16];

    if (set < 0)
        return report(session, MPI_ERR_ARG);
    snprintf(size, sizeof size, "%d", set == 0 ? rp_ft.ranks : 1);
    rp_real.Info_create(out);
    return rp_real.Info_set(*out, "mpi_size", size);
}

int rp_ft_Group_from_session_pset(MPI_Session session, const char *name, MPI_Group *group)
{
    int set = set_of(name);

    *group = MPI_GROUP_NULL;
    if (set < 0)
        return report(session, MPI_ERR_ARG);
    return rp_ft_Comm_group(set == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF, group);
}
