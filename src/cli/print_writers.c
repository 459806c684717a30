/* SPDX-License-Identifier: MIT */
#include "cli/print_writers.h"

#include <stdio.h>

#include "base/diagnostics.h"
#include "report/attribution.h"

enum rp_status rp_print_writers(const char *directory, const struct rp_manifest *manifest,
                                const char *ranks, bool json, struct rp_problem *why)
{
    struct rp_who *who;
    struct rp_attribution_counts n;
    enum rp_status status = rp_attribution_open(directory, manifest, &who, why);

    if (status != RP_OK)
        return status;
    status = rp_attribution_print(who, ranks, json, stdout, &n, why);
    rp_attribution_free(who);
    if (status == RP_OK)
        rp_note("%llu one-sided reads, in %llu parts: %llu written by a rank that is known, %llu "
                "by others, %llu by one of several, %llu of which nothing can be said",
                (unsigned long long)n.reads, (unsigned long long)n.parts,
                (unsigned long long)n.inside, (unsigned long long)n.outside,
                (unsigned long long)n.several, (unsigned long long)n.untold);
    return status;
}
