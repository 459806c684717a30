/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "reprise.h"

const char *rp_option_wrappers;

int rp_usage_error(const struct rp_command *command, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rp_error("%s: %s (see 'reprise %s --help')", command->name, text, command->name);
    return REPRISE_EXIT_USAGE;
}

void rp_options_help(const struct rp_command *command)
{
    printf("usage: reprise %s %s\n\n%s\n", command->name, command->synopsis, command->about);
    if (command->more)
        printf("\n%s\n", command->more);
    printf("\noptions:\n");
    for (const struct rp_option *o = command->options; o->name; o++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s%s%s%s", o->short_form ? o->short_form : "",
                 o->short_form ? ", " : "", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-22s %s\n", head, o->about);
    }
    printf("  %-22s %s\n", "-h, --help", "this text");
}

void rp_options_table(const struct rp_command *command)
{
    printf("command\t%s\t%s\t%s\n", command->name, command->about, command->synopsis);
    for (const struct rp_option *o = command->options; o->name; o++)
        printf("option\t%s\t%s\t%s\t%s\n", o->name, o->short_form ? o->short_form : "",
               o->argument ? o->argument : "", o->about);
}

static const struct rp_option *find(const struct rp_command *command, const char *word,
                                    const char **inline_value)
{
    size_t length = strcspn(word, "=");

    *inline_value = NULL;
    for (const struct rp_option *o = command->options; o->name; o++) {
        if (o->short_form && strcmp(word, o->short_form) == 0)
            return o;
        if (strlen(o->name) != length || strncmp(word, o->name, length) != 0)
            continue;
        if (word[length] == '=')
            *inline_value = word + length + 1;
        return o;
    }
    return NULL;
}

static bool use_wrappers(const struct rp_command *command)
{
    struct rp_problem why;

    setenv("REPRISE_WRAPPERS", rp_option_wrappers, 1);
    if (rp_settings_check_wrappers(&why) == RP_OK)
        return true;
    rp_usage_error(command, "%s", why.text);
    return false;
}

int rp_options_parse(const struct rp_command *command, int argc, char **argv)
{
    int i = 0;

    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *value;
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            rp_options_help(command);
            exit(0);
        }
        const struct rp_option *option = find(command, argv[i], &value);
        if (!option)
            return rp_usage_error(command, "unknown option '%s'", argv[i]), -1;
        if (!option->argument && value)
            return rp_usage_error(command, "'%s' takes no argument", option->name), -1;
        if (option->argument && !value && i + 1 == argc)
            return rp_usage_error(command, "'%s' needs %s", option->name, option->argument), -1;
        *option->value = !option->argument ? "1" : value ? value : argv[++i];
        if (option->value == &rp_option_wrappers && !use_wrappers(command))
            return -1;
    }
    return i;
}

int rp_options_parse_all(const struct rp_command *command, int argc, char **argv)
{
    int operands = 0, at = 0;

    while (at < argc) {
        bool all = strcmp(argv[at], "--") == 0; /* nothing behind it is an option */
        int parsed = rp_options_parse(command, argc - at, argv + at);
        if (parsed < 0)
            return -1;
        for (int i = 0; i < parsed; i++)
            all |= strcmp(argv[at + i], "--") == 0;
        for (at += parsed; at < argc && (all || argv[at][0] != '-' || !argv[at][1]); at++)
            argv[operands++] = argv[at];
    }
    return operands;
}

bool rp_options_one_run(const struct rp_command *command, int argc, char **argv, const char **name)
{
    int first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return false;
    if (argc - first > 1) {
        rp_usage_error(command, "one RUN is expected, not '%s' too", argv[first + 1]);
        return false;
    }
    *name = first < argc ? argv[first] : rp_setting("REPRISE_RUN");
    return true;
}
