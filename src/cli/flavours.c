/* SPDX-License-Identifier: MIT */
#include "cli/flavours.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/installed.h"
#include "job/settings.h"

char *rp_flavours_folder(void)
{
    const char *set = rp_setting("REPRISE_LIBRARY");

    return set ? strdup(set) : rp_installed_folder();
}

/* Reads `folder`/`name`/mpi. A folder without that file is none of a flavour. */
static bool read_flavour(const char *folder, const char *name, struct rp_flavour *out)
{
    char path[PATH_MAX], line[PATH_MAX + 32];

    memset(out, 0, sizeof *out);
    if (snprintf(path, sizeof path, "%s/%s/mpi", folder, name) >= (int)sizeof path ||
        snprintf(out->name, sizeof out->name, "%s", name) >= (int)sizeof out->name)
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "family %15s", out->family);
        sscanf(line, "version %63s", out->version);
        sscanf(line, "library %4095[^\n]", out->library);
    }
    fclose(file);
    return *out->family;
}

/* Calls `visit` for each flavour that is there. */
static void each_flavour(void (*visit)(const struct rp_flavour *, void *), void *context)
{
    char *folder = rp_flavours_folder();
    struct dirent **names = NULL;
    int count = folder ? scandir(folder, &names, NULL, alphasort) : 0;

    for (int i = 0; i < count; i++) {
        struct rp_flavour flavour;
        if (names[i]->d_name[0] != '.' && read_flavour(folder, names[i]->d_name, &flavour))
            visit(&flavour, context);
        free(names[i]);
    }
    free(names);
    free(folder);
}

struct choice {
    const char *mpi, *library;
    struct rp_flavour best;
    int rank; /* of the best: 0, there is none */
};

/* How well it fits: by name, by the file of the library, by family. */
static int rank_of(const struct rp_flavour *f, const struct choice *choice)
{
    if (strcmp(f->name, choice->mpi) == 0 && strcmp(f->name, f->family) != 0)
        return 3;
    if (strcmp(f->family, choice->mpi) != 0)
        return 0;
    return choice->library && strcmp(f->library, choice->library) == 0 ? 2 : 1;
}

static void consider(const struct rp_flavour *f, void *context)
{
    struct choice *choice = context;
    int rank = rank_of(f, choice);

    if (rank > choice->rank ||
        (rank && rank == choice->rank && strverscmp(f->version, choice->best.version) > 0)) {
        choice->best = *f;
        choice->rank = rank;
    }
}

enum rp_status rp_flavour_choose(const char *mpi, const char *library, struct rp_flavour *out,
                                 struct rp_problem *why)
{
    char real[PATH_MAX] = "";
    struct choice choice = {.mpi = mpi, .library = library ? realpath(library, real) : NULL};
    struct rp_buffer names = {0};

    each_flavour(consider, &choice);
    if (choice.rank) {
        *out = choice.best;
        return RP_OK;
    }
    rp_flavours_list(&names);
    rp_buffer_byte(&names, 0);
    char *folder = rp_flavours_folder();
    rp_fail(why, RP_USAGE, "reprise was not built for %s: %s has libraries for %s", mpi,
            folder ? folder : "?",
            !names.failed && names.length > 1 ? (char *)names.bytes : "no MPI");
    free(folder);
    rp_buffer_free(&names);
    return RP_USAGE;
}

static void is_it(const struct rp_flavour *f, void *context)
{
    const char **name = context;

    if (*name && strcmp(f->name, *name) == 0)
        *name = NULL;
}

bool rp_flavour_is_name(const char *mpi)
{
    static const char *const families[] = {"openmpi", "mpich", "abi"};
    const char *name = mpi;

    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(mpi, families[i]) == 0)
            return true;
    each_flavour(is_it, &name);
    return !name;
}

static void add_name(const struct rp_flavour *f, void *context)
{
    struct rp_buffer *out = context;

    rp_buffer_printf(out, "%s%s", out->length ? ", " : "", f->name);
}

void rp_flavours_list(struct rp_buffer *out)
{
    each_flavour(add_name, out);
}
