/* SPDX-License-Identifier: MIT */
/* reprise env: the environment in which a program is recorded, replayed or run deterministically,
 * for launchers and debuggers that are started in other ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "base/text.h"
#include "cli/binary.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "log/manifest.h"
#include "log/rundir.h"
#include "reprise.h"

static const char *output, *mpi, *list;

static const struct rp_option options[] = {
    {"--output", "-o", "DIR", "for record: the directory of the record", &output},
    {"--mpi", NULL, "MPI", "openmpi, mpich or abi, if no PROGRAM is given", &mpi},
    {"--list", NULL, NULL, "list all settings", &list},
    {NULL, NULL, NULL, NULL, NULL},
};

static int list_settings(void)
{
    for (const struct rp_setting *s = rp_settings; s->name; s++)
        if (s->about)
            printf("%-18s %s\n", s->name, s->about);
    return 0;
}

static void put_quoted(struct rp_buffer *out, const char *value)
{
    rp_buffer_byte(out, '\'');
    for (; *value; value++)
        *value == '\'' ? rp_buffer_printf(out, "'\\''") : rp_buffer_byte(out, (uint8_t)*value);
    rp_buffer_byte(out, '\'');
}

/* Prints the variable, if it is set, as a command of the shell. The value is quoted for any shell,
 * or for bash if it has characters that must not reach a terminal. */
static void print_export(const char *name)
{
    const char *value = getenv(name);
    struct rp_buffer word = {0};

    if (!value || !*value)
        return;
    if (rp_text_shown(value) != value)
        rp_buffer_shell_word(&word, value);
    else
        put_quoted(&word, value);
    rp_buffer_byte(&word, 0);
    if (!word.failed)
        printf("export %s=%s\n", name, (char *)word.bytes);
    rp_buffer_free(&word);
}

static enum rp_status set_as_recorded(const char *directory, struct rp_problem *why)
{
    struct rp_manifest manifest;
    enum rp_status status = rp_manifest_read(directory, &manifest, why);

    if (status != RP_OK)
        return status;
    rp_launch_as_recorded(&manifest);
    rp_manifest_free(&manifest);
    return RP_OK;
}

static enum rp_status set_run(const char *mode, const char *run, struct rp_problem *why)
{
    char *path = NULL;
    enum rp_status status = RP_OK;

    if (strcmp(mode, "record") == 0 && output) {
        path = rp_path_absolute(output);
        setenv("REPRISE_OUTPUT", path ? path : output, 1);
    } else if (strcmp(mode, "replay") == 0) {
        status = rp_run_find(run, &path, why);
        if (status == RP_OK)
            status = set_as_recorded(path, why);
        if (status == RP_OK)
            setenv("REPRISE_RUN", path, 1);
    }
    free(path);
    return status;
}

static enum rp_status set_preload(const char *program, struct rp_problem *why)
{
    char *words[] = {(char *)program, NULL};

    if (program)
        return rp_launch_preload(mpi, NULL, words, why);
    if (!mpi)
        return rp_fail(why, RP_USAGE, "which MPI? Give a PROGRAM or --mpi");
    return rp_launch_preload_for(mpi, NULL, NULL, why);
}

static bool is_mode(const char *word)
{
    return strcmp(word, "record") == 0 || strcmp(word, "replay") == 0 || strcmp(word, "det") == 0;
}

static void set_mode(const char *mode)
{
    if (strcmp(mode, "det") == 0) {
        setenv("REPRISE_DET", "1", 1);
        unsetenv("REPRISE_MODE");
        return;
    }
    setenv("REPRISE_MODE", mode, 1);
    setenv("REPRISE_LAUNCHED", "inside", 1);
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    int first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (list)
        return list_settings();
    if (first == argc || !is_mode(argv[first]))
        return rp_usage_error(command, "'record', 'replay' or 'det' is expected");
    const char *mode = argv[first++];
    int more = rp_options_parse(command, argc - first, argv + first);
    if (more < 0)
        return REPRISE_EXIT_USAGE;
    first += more;
    const char *name = strcmp(mode, "replay") == 0 && argc - first > 1 ? argv[first++] : NULL;
    const char *program = first < argc ? argv[first++] : NULL;
    if (first < argc)
        return rp_usage_error(command, "'%s' is too much", argv[first]);
    if (!mpi)
        mpi = rp_setting("REPRISE_MPI");
    set_mode(mode);
    enum rp_status status = set_run(mode, name, &why);
    if (status == RP_OK)
        status = set_preload(program, &why);
    if (status != RP_OK) {
        rp_error("%s", why.text);
        return rp_exit_status(status);
    }
    for (const struct rp_setting *s = rp_settings; s->name; s++)
        print_export(s->name);
    print_export("LD_PRELOAD");
    print_export("ASAN_OPTIONS");
    return 0;
}

const struct rp_command rp_command_env = {
    .name = "env",
    .synopsis = "[options] record|replay|det [RUN] [PROGRAM]",
    .about = "print the environment for other launchers",
    .more =
        "For a shell:  eval \"$(reprise env record ./app)\"; mpirun -n 4 ./app\n"
        "Options of 'reprise det' are settings here:  eval \"$(REPRISE_CHECK=1 reprise env det "
        "./app)\"\n"
        "A launcher that does not pass the environment on must be given every name printed here.",
    .options = options,
    .run = run,
};
