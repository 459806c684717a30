/* SPDX-License-Identifier: MIT */
/*
 * New processes, when no spare is left (--respawn): those who live start one together, by
 * MPI_Comm_spawn, and meet it in one communicator. From there on it is a spare. One is started at a
 * time: if one of several that were started at once dies, Open MPI 5 cannot start another with what
 * is left of them (PMIx_Connect is "not supported" then).
 *
 * If a process dies meanwhile, Open MPI 5 fails, or lets all others wait for ever: so there is a
 * time limit. The launcher does not survive that, so the job ends. Files of checkpoints are
 * complete before.
 */
#include "ft/ft_respawn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "ft/ft_abort.h"
#include "ft/ft_files.h"
#include "ft/ft_inject.h"
#include "ft/ft_state.h"
#include "ft/ft_ulfm.h"
#include "ft/ft_watchdog.h"
#include "job/settings.h"
#include "reprise.h"

enum { PATIENCE = 30 };

int rp_ft_respawn_limit(void)
{
    const char *text = rp_setting("REPRISE_FT_RESPAWN");

    return text ? (int)strtol(text, NULL, 10) : 0;
}

/* The program once more, as this process was started */

struct program {
    char path[PATH_MAX];
    struct rp_buffer text; /* its words, each with a 0 behind it */
    char **arguments;      /* without the first */
};

static bool program_find(struct program *program)
{
    struct rp_problem why;
    ssize_t length = readlink("/proc/self/exe", program->path, sizeof program->path - 1);
    size_t count = 0;

    if (length <= 0 ||
        rp_read_file("/proc/self/cmdline", SIZE_MAX / 2, &program->text, &why) != RP_OK)
        return false;
    program->path[length] = 0;
    for (size_t i = 0; i < program->text.length; i++)
        count += program->text.bytes[i] == 0;
    program->arguments = rp_ft_alloc((count + 1) * sizeof *program->arguments);
    char *word = (char *)program->text.bytes;
    for (size_t i = 0; i < count; i++, word += strlen(word) + 1)
        if (i > 0)
            program->arguments[i - 1] = word;
    return true;
}

/* What the launcher's options added to the environment (-x) is not handed on: the new process finds
 * it in a file. By that file it knows, too, that the launcher did not start it. */

static void path_of_environment(char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/respawned",
             rp_setting("REPRISE_FT_DIR") ? rp_setting("REPRISE_FT_DIR") : "/nowhere");
}

static void leave_environment(void)
{
    char path[PATH_MAX];
    struct rp_buffer text = {0};
    struct rp_problem why;

    path_of_environment(path);
    if (rp_read_file("/proc/self/environ", SIZE_MAX / 2, &text, &why) == RP_OK)
        rp_write_new_file(path, text.bytes, text.length,
                          &why); /* it may be there: one is like the other */
    rp_buffer_free(&text);
}

/* Of the job, not of the user; and what the process has of its own. */
static bool is_ours_to_set(const char *variable)
{
    static const char *const others[] = {"OMPI_", "PMIX_", "PRTE_", "PMI_", "PWD=", "OLDPWD="};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(variable, others[i], strlen(others[i])) == 0)
            return false;
    return strchr(variable, '=') != NULL;
}

bool rp_ft_respawn_environment(void)
{
    char path[PATH_MAX];
    struct rp_buffer text = {0};
    struct rp_problem why;

    path_of_environment(path);
    if (!rp_setting("REPRISE_FT_DIR") || rp_read_file(path, SIZE_MAX / 2, &text, &why) != RP_OK)
        return false;
    for (char *word = (char *)text.bytes; word < (char *)text.bytes + text.length;
         word += strlen(word) + 1)
        if (is_ours_to_set(word)) {
            char *equals = strchr(word, '=');
            char *name = strndup(word, (size_t)(equals - word));
            if (name)
                setenv(name, equals + 1, 1);
            free(name);
        }
    rp_buffer_free(&text);
    return true;
}

static void start(const struct program *program, MPI_Comm living, MPI_Comm *between)
{
    char directory[PATH_MAX];
    MPI_Info info = MPI_INFO_NULL;

    rp_real.Info_create(&info);
    if (getcwd(directory, sizeof directory))
        rp_real.Info_set(info, "wdir", directory);
    rp_real.Info_set(info, "map_by", ":OVERSUBSCRIBE");
    int error = rp_real.Comm_spawn(program->path, program->arguments, 1, info, 0, living, between,
                                   MPI_ERRCODES_IGNORE);
    rp_real.Info_free(&info);
    if (error != MPI_SUCCESS)
        rp_ft_die(REPRISE_EXIT_INTERNAL,
                  "no spare is left, and MPI_Comm_spawn cannot start %s (error %d), or another "
                  "process died meanwhile; %s",
                  program->path, error, rp_ft_files_restart_hint());
}

static MPI_Comm merge(MPI_Comm between, bool is_new)
{
    MPI_Comm all = MPI_COMM_NULL;

    rp_real.Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    if (rp_real.Intercomm_merge(between, is_new, &all) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    rp_real.Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    return all;
}

MPI_Comm rp_ft_respawn(MPI_Comm living)
{
    struct program program = {0};
    MPI_Comm between = MPI_COMM_NULL;
    int me, are_there;

    if (!program_find(&program))
        rp_ft_die(
            REPRISE_EXIT_INTERNAL,
            "no spare is left, and no process can be started: /proc does not tell the program");
    rp_real.Comm_rank(living, &me);
    if (me == 0)
        leave_environment();
    rp_ft_watchdog_start(PATIENCE, "the new process for a dead rank did not come",
                         "another may have died meanwhile");
    rp_ft_inject_recovery(5);
    start(&program, living, &between);
    MPI_Comm all = merge(between, false);
    are_there = all != MPI_COMM_NULL;
    rp_ulfm.agree(living, &are_there);
    rp_ft_watchdog_stop();
    if (!are_there)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "a process died while a new one was started; %s",
                  rp_ft_files_restart_hint());
    rp_ft.respawned++;
    free(program.arguments);
    rp_buffer_free(&program.text);
    return all;
}

MPI_Comm rp_ft_respawn_join(void)
{
    MPI_Comm parents = MPI_COMM_NULL;

    if (rp_real.Comm_get_parent(&parents) != MPI_SUCCESS || parents == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    MPI_Comm all = merge(parents, true);
    if (all == MPI_COMM_NULL)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "a process died while a new one was started; %s",
                  rp_ft_files_restart_hint());
    return all;
}
