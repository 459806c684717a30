/* SPDX-License-Identifier: MIT */
/* reprise doctor: whether a program can be recorded, and what of it would not be. */
#include <stdio.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/binary.h"
#include "cli/flavours.h"
#include "cli/mpi_version.h"
#include "cli/refused_calls.h"
#include "cli/options.h"
#include "reprise.h"

static const struct rp_option options[] = {
    {NULL, NULL, NULL, NULL, NULL},
};

/* Prints why reprise cannot run the program. Returns false if nothing prevents it; *flavour is then
 * the one for the program's MPI. */
static bool has_obstacle(const struct rp_binary *b, struct rp_flavour *flavour)
{
    struct rp_problem why;

    if (b->kind == RP_BINARY_NONE)
        printf("  is no program: neither an ELF executable nor a script\n");
    else if (!b->executable)
        printf("  is not executable\n");
    else if (b->setuid)
        printf("  is setuid or setgid: the loader ignores LD_PRELOAD for it\n");
    else if (b->kind == RP_BINARY_STATIC)
        printf("  is statically linked: there is no way into it; link it dynamically\n");
    else if (b->kind == RP_BINARY_DYNAMIC && !b->mpi)
        printf("  is linked with no MPI that reprise knows\n");
    else if (b->kind == RP_BINARY_DYNAMIC &&
             rp_flavour_choose(b->mpi, b->mpi_library, flavour, &why) != RP_OK)
        printf("  %s\n", why.text);
    else
        return false;
    return true;
}

/* Prints what recording does at a function that the program names. `cxx`: the headers of the C++
 * bindings may name it, and the program itself may not call it. */
static void describe_refused(const char *name, bool cxx)
{
    const char *calls = cxx ? "calls, or only mentions," : "calls";

    if (rp_refused_call_shares_window(name))
        printf("  %s %s: recording stops there, unless the program is compiled by 'reprise-cc "
               "--track', or "
               "'--allow %s'\n",
               calls, name, name);
    else if (!rp_refused_call_makes_window(name))
        printf("  %s %s, which is refused: recording stops there, unless '--allow %s'\n", calls,
               name, name);
}

static void describe_windows(const struct rp_binary *b)
{
    if (b->makes_window && b->refused_alone)
        printf("  calls %s and %s, which cannot be recorded together: recording stops at the "
               "first, or with "
               "--ranks at the second\n",
               rp_text_shown(b->makes_window), b->refused_alone);
    else if (b->makes_window)
        printf("  calls %s: the data of all ranks is recorded, too\n",
               rp_text_shown(b->makes_window));
}

/* The ABI of MPICH is that of other MPIs, too, with which nobody has tried reprise. */
static const char *experience(const struct rp_binary *b, const char *version)
{
    bool is_known = strstr(version, "Open MPI") || strncmp(version, "MPICH Version", 13) == 0;

    return is_known || strcmp(b->mpi, "openmpi") == 0 ? "" : "; untested with this MPI";
}

static void describe_mpi(const struct rp_binary *b, const struct rp_flavour *flavour)
{
    char version[256];
    bool answers = rp_mpi_version(b->mpi_library, version, sizeof version);

    printf("  MPI: %s (%s)%s%s\n", b->mpi, rp_text_shown(b->mpi_library), answers ? ", " : "",
           answers ? rp_text_shown(version) : "");
    printf("  reprise's libraries: %s, built with version %s, for any MPI of this family%s\n",
           flavour->name, flavour->version, answers ? experience(b, version) : "");
}

static void describe(const struct rp_binary *b, const struct rp_flavour *flavour)
{
    if (b->kind == RP_BINARY_SCRIPT) {
        printf("  is a script: what it starts is recorded; say which MPI by --mpi if the launcher "
               "does not tell\n");
        return;
    }
    describe_mpi(b, flavour);
    if (b->shmem)
        printf("  OpenSHMEM: is recorded with --ranks, and each PE replayed alone by 'reprise "
               "solo'\n");
    if (b->fortran)
        printf("  Fortran: its calls are seen, through the C functions that its bindings call\n");
    if (b->cxx)
        printf("  C++\n");
    if (b->asan)
        printf("  AddressSanitizer (%s): reprise tells it that it need not be loaded first\n",
               rp_text_shown(b->asan));
    for (char **name = b->refused; name && *name; name++)
        describe_refused(*name, b->cxx);
    describe_windows(b);
}

static bool stops(const struct rp_binary *b)
{
    for (char **name = b->refused; name && *name; name++)
        if (!rp_refused_call_makes_window(*name) || rp_refused_call_shares_window(*name))
            return true;
    return b->makes_window && b->refused_alone;
}

static const char *verdict(const struct rp_binary *b, bool is_bad)
{
    if (is_bad && b->executable && !b->setuid && b->kind == RP_BINARY_DYNAMIC)
        return "cannot be recorded, unless it loads an MPI itself, as Python does: which one, the "
               "launcher tells, or --mpi";
    if (is_bad)
        return "cannot be recorded";
    return stops(b) ? "can be recorded up to a refused call" : "can be recorded";
}

static int examine(const char *name)
{
    struct rp_binary binary;
    struct rp_flavour flavour;
    struct rp_problem why;
    enum rp_status status = rp_binary_look(name, &binary, &why);

    if (status != RP_OK) {
        rp_error("%s", why.text);
        return rp_exit_status(status);
    }
    printf("%s\n", rp_text_shown(binary.path));
    bool bad = has_obstacle(&binary, &flavour);
    if (!bad)
        describe(&binary, &flavour);
    printf("  %s\n", verdict(&binary, bad));
    rp_binary_free(&binary);
    return bad ? REPRISE_EXIT_UNSUPPORTED : 0;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    int worst = 0, first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (first == argc)
        return rp_usage_error(command, "which PROGRAM?");
    for (int i = first; i < argc; i++) {
        int status = examine(argv[i]);
        if (status > worst)
            worst = status;
    }
    return worst;
}

const struct rp_command rp_command_doctor = {
    .name = "doctor",
    .synopsis = "PROGRAM...",
    .about = "check whether a program can be recorded",
    .options = options,
    .run = run,
};
