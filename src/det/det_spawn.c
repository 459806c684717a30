/* SPDX-License-Identifier: MIT */
/*
 * The parents wait for each other. Then the root waits until it is its turn among all ranks, so
 * that jobs begin in the order of logical time, whatever the launcher does. It makes room for the
 * children in the shared memory: from now on they count as ranks that run, at the time of the
 * spawn. The others wait for the root once more: without that, they would be inside MPI, where
 * their clocks stand still, and the root would wait for these.
 *
 * What a child needs to find its place is in a setting (REPRISE_DET_JOIN). Parents and children
 * learn each other's ranks by the first message on their intercommunicator.
 */
#include "det/det_spawn.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "det/det_turns.h"
#include "det/det_wait.h"
#include "job/settings.h"
#include "preload/constants.h"
#include "preload/spawn_command.h"
#include "reprise.h"

enum { MARK = 64, SETTING = 512 };
#define JOIN_FORMAT "%ld %d %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIx64 " %s %s"

static unsigned long spawns; /* of this process as root */

/* The child of a spawn */

static struct {
    struct rp_shared_place place;
    uint32_t first;
    uint64_t comm; /* the number of the intercommunicator */
    char job[RP_JOB_NAME], mark[MARK], prefix[RP_JOB_NAME + 1];
} child;

bool rp_det_is_spawned(void)
{
    const char *join = rp_setting("REPRISE_DET_JOIN");

    return join && sscanf(join, "%ld %d %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNx64 " %95s %63s",
                          &child.place.process, &child.place.file, &child.place.inode,
                          &child.place.room, &child.first, &child.comm, child.job, child.mark) == 8;
}

void rp_det_spawned_enter(void)
{
    int fd = rp_det_is_spawned()
                 ? open(child.mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)
                 : -1;

    if (fd >= 0)
        close(fd);
    if (!child.job[0])
        return;
    snprintf(child.prefix, sizeof child.prefix, "%s.", child.job);
    rp_diagnostics_job(child.prefix);
}

enum rp_status rp_det_spawned_join(uint32_t ranks, uint32_t rank, struct rp_problem *why)
{
    return rp_shared_join(&child.place, child.first, ranks, rank, why);
}

void rp_det_spawned_meet(void)
{
    MPI_Comm parent;

    rp_pmpi.Comm_get_parent(&parent);
    rp_det_comm_spawned(parent, child.comm);
}

/* The root */

struct spawning {
    uint32_t first, ranks;
    char job[RP_JOB_NAME], mark[MARK], join[SETTING];
};

__attribute__((noreturn)) static void stop(const char *text, int status)
{
    rp_error("%s cannot be made deterministic: %s", rp_det.function, text);
    rp_det_end_job(status);
}

static void name_job(char job[RP_JOB_NAME])
{
    if (!rp_job_of_spawn(rp_shared_rank_name(rp_shared.rank).text, ++spawns, job))
        stop("children of children, so deep that the name of their job is too long",
             REPRISE_EXIT_UNSUPPORTED);
}

static void begin(struct spawning *s, const struct rp_spawn *spawn, uint64_t comm)
{
    struct rp_shared_place place;
    struct rp_problem why;

    name_job(s->job);
    for (int i = 0; i < spawn->count; i++)
        s->ranks += spawn->maxprocs[i] > 0 ? (uint32_t)spawn->maxprocs[i] : 0;
    if (rp_shared_job_begin(s->job, s->ranks, &s->first, &why) != RP_OK ||
        rp_shared_place(&place, &why) != RP_OK)
        stop(why.text, REPRISE_EXIT_UNSUPPORTED);
    snprintf(s->mark, sizeof s->mark, "%s/reprise-det-%ld-%lu.mark",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid(), spawns);
    snprintf(s->join, sizeof s->join, JOIN_FORMAT, place.process, place.file, place.inode,
             place.room, s->first, comm, s->job, s->mark);
}

static int spawn_plain(const struct rp_spawn *s)
{
    return s->is_multiple
               ? rp_pmpi.Comm_spawn_multiple(s->count, s->commands, s->argvs, s->maxprocs, s->infos,
                                             s->root, s->comm, s->intercomm, s->errcodes)
               : rp_pmpi.Comm_spawn(s->commands[0], s->argvs[0], s->maxprocs[0], s->infos[0],
                                    s->root, s->comm, s->intercomm, s->errcodes);
}

static int spawn_with(const struct spawning *s, const struct rp_spawn *spawn)
{
    const char *state = rp_setting("REPRISE_STATE");
    const struct rp_spawn_setting settings[] = {{"REPRISE_JOB", s->job},
                                                {"REPRISE_STATE", state ? state : ""},
                                                {"REPRISE_DET_JOIN", s->join},
                                                {NULL, NULL}};
    struct rp_spawn with;
    int children = 0;

    rp_spawn_with_settings(spawn, settings, &with);
    unlink(s->mark);
    int rc = spawn_plain(&with);
    rp_spawn_free(&with);
    if (rc == MPI_SUCCESS)
        rp_pmpi.Comm_remote_size(*spawn->intercomm, &children);
    if (children > 0 && !rp_spawn_has_mark(s->mark))
        stop("the children run without reprise: is the program statically linked, or does it clear "
             "LD_PRELOAD or its environment?",
             REPRISE_EXIT_UNSUPPORTED);
    unlink(s->mark);
    rp_shared_job_came(s->first, (uint32_t)children);
    return rc;
}

/* All parents */

static int spawn_job(const struct rp_spawn *spawn, struct rp_det_operation what)
{
    const struct rp_det_comm *c = rp_det_comm_find(spawn->comm);
    struct spawning s = {0};

    if (rp_shared.host_of)
        stop("children of a job of several hosts do not share its logical time",
             REPRISE_EXIT_UNSUPPORTED);
    if (!c || spawn->root < 0 || spawn->root >= c->size)
        return spawn_plain(spawn);
    what.root = spawn->root;
    rp_det_collective_leave(rp_det_collective_enter(RP_DET_MAY_NOT, spawn->comm, what));
    uint64_t id = rp_det_comm_reserve_id(spawn->comm);
    bool is_root = c->from == spawn->root;
    if (is_root) {
        rp_det_wait_for_turn();
        begin(&s, spawn, id);
    }
    rp_det_collective_leave(rp_det_collective_enter(RP_DET_MAY_NOT, spawn->comm, what));
    rp_det.inside++;
    int rc = is_root ? spawn_with(&s, spawn) : spawn_plain(spawn);
    if (rc == MPI_SUCCESS)
        rp_det_comm_spawned(*spawn->intercomm, id);
    rp_det.inside--;
    return rc;
}

int rp_det_comm_spawn(struct rp_det_operation what, const char *command, char *argv[], int maxprocs,
                      MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[])
{
    char *commands = (char *)command;

    return spawn_job(&(struct rp_spawn){1, &commands, &argv, &maxprocs, &info, root, comm,
                                        intercomm, codes, false},
                     what);
}

int rp_det_comm_spawn_multiple(struct rp_det_operation what, int count, char *commands[],
                               char **argvs[], const int maxprocs[], const MPI_Info infos[],
                               int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[])
{
    return spawn_job(&(struct rp_spawn){count, commands, argvs, maxprocs, infos, root, comm,
                                        intercomm, codes, true},
                     what);
}
