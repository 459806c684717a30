/* SPDX-License-Identifier: MIT */
/* One option table a command: it parses the command line and makes the help. */
#ifndef RP_OPTIONS_H
#define RP_OPTIONS_H

#include <stdbool.h>

struct rp_option {
    const char *name;       /* with its dashes: "--at-end" */
    const char *short_form; /* "-o", or NULL */
    const char *argument;   /* what help calls it; NULL: a switch */
    const char *about;
    const char **value; /* set to the argument, or to "1" */
};

/* Of every command that names places. Its value becomes the setting, so that nobody else need look
 * at it. */
extern const char *rp_option_wrappers;
#define RP_OPTION_WRAPPERS                                                                         \
    {                                                                                              \
        "--wrappers", NULL, "F[,F]",                                                               \
            "functions that only wrap MPI, such as comm_*: a place is named by their caller",      \
            &rp_option_wrappers                                                                    \
    }

struct rp_command {
    const char *name;
    const char *synopsis;            /* what follows `reprise NAME` */
    const char *about;               /* one line */
    const char *more;                /* paragraphs for the help, or NULL */
    const struct rp_option *options; /* ended by a NULL name */
    int (*run)(const struct rp_command *command, int argc, char **argv);
};

/* Parses options up to the first operand or `--`, which is passed over. Returns the index of the
 * first operand, or -1 after an error was said. Exits after --help. */
int rp_options_parse(const struct rp_command *command, int argc, char **argv);

/* The same for options before, between and behind operands. Moves the operands to the front, in
 * order, and returns how many there are. */
int rp_options_parse_all(const struct rp_command *command, int argc, char **argv);

/* For commands of one record: parses the options, and gives the name of the record, from the
 * command line or REPRISE_RUN; NULL: neither has one. False after an error was said. */
bool rp_options_one_run(const struct rp_command *command, int argc, char **argv, const char **name);

/* Says what is wrong with the command line and how to get help; returns the exit status for it. */
int rp_usage_error(const struct rp_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void rp_options_help(const struct rp_command *command);

/* Prints the table, for src/cli/completions.py: a line for the command, and one for each option,
 * with tabs between the fields. */
void rp_options_table(const struct rp_command *command);

extern const struct rp_command rp_command_record, rp_command_replay, rp_command_info,
    rp_command_dump, rp_command_verify, rp_command_recode, rp_command_env, rp_command_doctor,
    rp_command_det, rp_command_calibrate, rp_command_report, rp_command_diff, rp_command_export,
    rp_command_stress, rp_command_status, rp_command_gdb, rp_command_solo, rp_command_algebra,
    rp_command_ft;

#endif
