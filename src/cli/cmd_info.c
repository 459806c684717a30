/* SPDX-License-Identifier: MIT */
/* reprise info: what a record holds. */
#include <stdio.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/tasksinfo.h"
#include "log/rundir.h"
#include "log/taskrecord.h"
#include "report/facts.h"
#include "reprise.h"

static const char *json;

static const struct rp_option options[] = {
    {"--json", NULL, NULL, "as JSON", &json},
    {NULL, NULL, NULL, NULL, NULL},
};

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_facts facts;
    struct rp_problem why;
    struct rp_buffer text = {0};
    char *directory = NULL;
    const char *name;

    if (!rp_options_one_run(command, argc, argv, &name))
        return REPRISE_EXIT_USAGE;
    enum rp_status status = rp_run_find(name, &directory, &why);
    if (status == RP_OK && rp_task_record_is(directory)) {
        int exit_status = rp_tasks_info(directory, json != NULL);
        free(directory);
        return exit_status;
    }
    if (status == RP_OK)
        status = rp_facts_collect(directory, &facts, &why);
    free(directory);
    if (status != RP_OK) {
        rp_error("%s", why.text);
        return rp_exit_status(status);
    }
    (json ? rp_facts_put_json : rp_facts_put_text)(&text, &facts);
    rp_text_print(stdout, text.bytes, text.length);
    rp_buffer_free(&text);
    rp_facts_free(&facts);
    return fflush(stdout) == 0 ? 0 : REPRISE_EXIT_INTERNAL;
}

const struct rp_command rp_command_info = {
    .name = "info",
    .synopsis = "[options] [RUN]",
    .about = "show what a record holds",
    .options = options,
    .run = run,
};
