/* SPDX-License-Identifier: MIT */
#include "cli/window_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/refused_calls.h"
#include "cdc/codec/row_codec.h"

void rp_window_data_note(struct rp_window_data *seen, const struct rp_binary *binary)
{
    if (!binary->mpi)
        return;
    seen->is_refused |= binary->refused_alone != NULL;
    if (!binary->makes_window || seen->program)
        return;
    seen->program = strdup(binary->path);
    seen->function = strdup(binary->makes_window);
}

/* The user lets functions that make windows through unrecorded. */
static bool allows_windows(void)
{
    const char *allowed = rp_setting("REPRISE_ALLOW");
    char name[64];

    for (const char *at = allowed; at && *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (length < sizeof name) {
            memcpy(name, at, length);
            name[length] = 0;
            if (rp_refused_call_makes_window(name) && !rp_refused_call_shares_window(name))
                return true;
        }
        at += length;
    }
    return false;
}

/* Whether this is a recording in which nothing was said of data, nor asked for what data cannot go
 * with. */
static bool is_open(void)
{
    const char *mode = rp_setting("REPRISE_MODE"), *codec = rp_setting("REPRISE_CODEC");

    return mode && strcmp(mode, "record") == 0 && !getenv("REPRISE_RANKS") &&
           !rp_setting("REPRISE_SOLO") && !rp_setting("REPRISE_DET") &&
           !rp_setting("REPRISE_THREADS") && !rp_setting("REPRISE_CLOCKS") &&
           !(codec && rp_row_codec_by_name(codec)) && !allows_windows();
}

/* Inside a launcher each rank chooses by itself, and all choose the same. Returns whether this one
 * is to print the choice. */
static bool is_first_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), "0") == 0;
    return true;
}

void rp_window_data_choose(const struct rp_window_data *seen)
{
    if (!seen->function || seen->is_refused || !is_open())
        return;
    setenv("REPRISE_RANKS", "all", 1);
    if (is_first_rank())
        rp_note(
            "%s calls %s: the data of all ranks is recorded, too, so that the run can be replayed "
            "('--ranks none' leaves it out)",
            seen->program, seen->function);
}

void rp_window_data_free(struct rp_window_data *seen)
{
    free(seen->program);
    free(seen->function);
}
