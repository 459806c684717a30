/* SPDX-License-Identifier: MIT */
/* reprise algebra: counts the dependencies that an order of events needs, and shows how. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cli/options.h"
#include "match/algebra.h"
#include "reprise.h"

static const char *json, *quiet;

static const struct rp_option options[] = {
    {"--json", NULL, NULL, "print the counts as JSON", &json},
    {"--quiet", "-q", NULL, "do not print the steps", &quiet},
    {NULL, NULL, NULL, NULL, NULL},
};

static void print_json(const struct rp_algebra *set)
{
    printf("{\"messages\": %" PRIu64 ", \"events\": %" PRIu64 ", \"dependencies\": %" PRIu64
           ", \"given\": %" PRIu64 ", \"determinants\": %" PRIu64 "}\n",
           set->messages, set->events, set->dependencies, set->given, rp_algebra_determinants(set));
}

/* Prints one step a line, its rule in a column of its own. */
static void print_steps(struct rp_buffer *steps)
{
    rp_buffer_byte(steps, 0);
    for (char *rest = (char *)steps->bytes, *line; (line = strsep(&rest, "\n")) && rest;) {
        char *rule = strchr(line, '\t');
        *rule = 0;
        printf("  %-60s  %s\n", line, rule + 1);
    }
}

static void print(const struct rp_algebra *set)
{
    printf("messages      %" PRIu64 "\nevents        %" PRIu64 "\ndependencies  %" PRIu64 "\n",
           set->messages, set->events, set->dependencies);
    printf("given         %" PRIu64 "  by the program's own order and the sizes of regions\n",
           set->given);
    printf("determinants  %" PRIu64 "  to be recorded\n", rp_algebra_determinants(set));
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    struct rp_algebra set;
    struct rp_buffer steps = {0};
    int count = rp_options_parse_all(command, argc, argv);

    if (count < 0)
        return REPRISE_EXIT_USAGE;
    if (count != 1)
        return rp_usage_error(command, "one EXPRESSION is expected, in quotes");
    enum rp_status status = rp_algebra_evaluate(argv[0], &steps, &set, &why);
    if (status == RP_OK && json)
        print_json(&set);
    else if (status == RP_OK) {
        if (!quiet)
            print_steps(&steps);
        print(&set);
    } else
        rp_error("'%s': %s", argv[0], why.text);
    rp_buffer_free(&steps);
    return rp_exit_status(status);
}

const struct rp_command rp_command_algebra = {
    .name = "algebra",
    .synopsis = "[--json] [-q] EXPRESSION",
    .about = "count the dependencies that an order of messages needs",
    .more = "Sets at one endpoint: O(n,d) ordered, U(n,d) in any order, D(n) deterministic, D(n,k) "
            "in k chains, C(n) commutative.\n"
            "Joined by: a ; b (b after a), a -> b (so by the program itself), repeat(k, a), "
            "loop(k, a) (k times by ; or ->),\n"
            "interleave(a, b, ...), independent(a, b, ...).\n"
            "Example: reprise algebra 'interleave(O(5,0), U(3,0)) ; C(100)'",
    .options = options,
    .run = run,
};
