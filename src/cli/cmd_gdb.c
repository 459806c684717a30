/* SPDX-License-Identifier: MIT */
/* reprise gdb: becomes gdb, with commands for replays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "reprise.h"

static const char *script;

static const struct rp_option options[] = {
    {"--script", NULL, NULL, "print the file of the commands, for a gdb that something else starts",
     &script},
    {NULL, NULL, NULL, NULL, NULL},
};

static int become(char *path, int argc, char **argv)
{
    char **words = calloc((size_t)argc + 4, sizeof *words);

    if (!words)
        return REPRISE_EXIT_INTERNAL;
    words[0] = "gdb";
    words[1] = "-x";
    words[2] = path;
    memcpy(words + 3, argv, (size_t)argc * sizeof *words);
    return rp_launch_become(words);
}

/* Passes all arguments to gdb, except our own options. */
static int run(const struct rp_command *command, int argc, char **argv)
{
    bool own = argc > 0 && (strcmp(argv[0], "--script") == 0 || strcmp(argv[0], "--help") == 0 ||
                            strcmp(argv[0], "-h") == 0);
    int first = own ? rp_options_parse(command, argc, argv) : 0;

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (script && first < argc)
        return rp_usage_error(command, "--script takes no arguments, such as '%s'", argv[first]);
    char *path = rp_launch_gdb_script();
    if (!path) {
        rp_error("the commands for gdb are not beside the library: is reprise.gdb installed?");
        return REPRISE_EXIT_USAGE;
    }
    if (script)
        return puts(path) < 0 ? REPRISE_EXIT_INTERNAL : 0;
    return become(path, argc, argv);
}

const struct rp_command rp_command_gdb = {
    .name = "gdb",
    .synopsis = "[GDB ARGUMENT...]",
    .about = "start gdb with commands for the events of a replay",
    .more =
        "The arguments are gdb's, as in 'reprise gdb -p 1234' for a rank of 'reprise replay --gdb "
        "RANKS'. In gdb:\n\n"
        "  reprise where     the number of the current event, and which comes next\n"
        "  reprise pending   the pending receives, with the messages that they take in the record\n"
        "  reprise step [N]  on to the next event, or the N-th\n"
        "  reprise until N   on until N events were replayed",
    .options = options,
    .run = run,
};
