/* SPDX-License-Identifier: MIT */
/*
 * The command of a spawn, with settings for the children. Launchers start children with their own
 * environment, which has no job of ours in it, and nothing of reprise if it was started inside the
 * launcher. So the command that is spawned is `env`, with the settings and the program as its
 * arguments: all launchers can do that.
 */
#ifndef RP_SPAWN_COMMAND_H
#define RP_SPAWN_COMMAND_H

#include <mpi.h>
#include <stdbool.h>

/* MPI_Comm_spawn_multiple, or with count 1 MPI_Comm_spawn, as the program calls it. The first four
 * are known at the root only. */
struct rp_spawn {
    int count;
    char **commands;
    char ***argvs; /* NULL: no arguments */
    const int *maxprocs;
    const MPI_Info *infos;
    int root;
    MPI_Comm comm, *intercomm;
    int *errcodes;
    int is_multiple;
};

/* A setting for the children. A list of them ends with one whose name is NULL. */
struct rp_spawn_setting {
    const char *name, *value;
};

/* Sets commands and argvs of `out` to those of `spawn`, with the settings. What is not found here
 * stays as it is, for MPI to say so. Ends the process if memory is out. */
void rp_spawn_with_settings(const struct rp_spawn *spawn, const struct rp_spawn_setting *settings,
                            struct rp_spawn *out);

/* Frees what that made. */
void rp_spawn_free(struct rp_spawn *out);

/* Waits a while for the file by which children say that reprise is in them (rp_job_enter): on
 * several hosts it may be seen late. Returns whether it is there. */
bool rp_spawn_has_mark(const char *mark);

#endif
