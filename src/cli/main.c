/* SPDX-License-Identifier: MIT */
/* reprise <verb>: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/options.h"
#include "reprise.h"

static const struct rp_command *const commands[] = {
    &rp_command_record,    &rp_command_replay,  &rp_command_solo,   &rp_command_det,
    &rp_command_info,      &rp_command_dump,    &rp_command_verify, &rp_command_report,
    &rp_command_diff,      &rp_command_export,  &rp_command_stress, &rp_command_status,
    &rp_command_recode,    &rp_command_env,     &rp_command_doctor, &rp_command_gdb,
    &rp_command_calibrate, &rp_command_algebra, &rp_command_ft,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
    fprintf(out, "usage: reprise <command> ...\n\nrecord a run of an MPI program, and replay it "
                 "exactly\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->about);
    fprintf(out, "\n'reprise <command> --help' says more. A first try:\n\n"
                 "  reprise record mpirun -n 4 ./app\n  reprise replay\n");
}

static const struct rp_command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    struct rp_problem why;

    if (argc < 2) {
        help(stderr);
        return REPRISE_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("reprise " REPRISE_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--tables") == 0) { /* for completions, when they are made */
        for (int i = 0; i < COMMANDS; i++)
            rp_options_table(commands[i]);
        return 0;
    }
    bool asked = strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
                 strcmp(argv[1], "-h") == 0;
    const struct rp_command *command = find(asked && argc > 2 ? argv[2] : argv[1]);
    if (asked) {
        command ? rp_options_help(command) : help(stdout);
        return 0;
    }
    if (!command) {
        rp_error("no command '%s': 'reprise --help' lists them", argv[1]);
        return REPRISE_EXIT_USAGE;
    }
    if (rp_settings_check(&why) != RP_OK) {
        rp_error("%s", why.text);
        return REPRISE_EXIT_USAGE;
    }
    return command->run(command, argc - 2, argv + 2);
}
