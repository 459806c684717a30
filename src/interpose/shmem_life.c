/* SPDX-License-Identifier: MIT */
/*
 * The start and the end of OpenSHMEM, whose library initialises and finalises MPI internally,
 * without calling MPI's functions. libreprise-partial.so handles everything else of OpenSHMEM, so
 * OpenSHMEM is recorded only with --ranks.
 *
 * In a partial replay there is no OpenSHMEM library: MPI is initialised instead, as a job of one
 * process.
 */
#include "entry/life.h"
#include "entry/refuse.h"

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "peers/peer_partial.h"
#include "entry/engine.h"
#include "entry/entry.h"
#include "preload/real_functions.h"
#include "entry/thread_state.h"
#include "reprise.h"

#define ENTRY __attribute__((visibility("default")))

static enum { NEVER, STARTED, ENDED } life;
static bool has_mpi; /* the program initialised MPI itself */
static pid_t owner;

static void *library_function(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (!function)
        rp_next_missing(name);
    return function;
}

/* Returns whether OpenSHMEM is recorded. Ends the job if it cannot be. */
static bool is_recorded(const char *name)
{
    const char *mode = rp_setting("REPRISE_MODE");

    if (!mode || life != NEVER || rp_list_has(rp_setting("REPRISE_ALLOW"), name))
        return false;
    rp_refuse(name);
    if (reprise_partial_shmem_begin)
        return true;
    rp_error("%s: this reprise was built without shmem.h, so OpenSHMEM programs cannot be recorded",
             name);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

/* Debian's library crashes at its end, after everything that matters. So we only end MPI, unless
 * the program does. */
static void end(bool is_exit)
{
    if (life == STARTED && rp_life_is_begun() && !reprise_partial_shmem_end() &&
        rp_setting("REPRISE_SOLO"))
        return; /* the record has ended before */
    life = ENDED;
    if (rp_life_is_begun() && (is_exit || !has_mpi))
        rp_life_Finalize(&rp_pmpi);
}

static void at_exit(int status, void *unused)
{
    (void)status, (void)unused;
    if (getpid() == owner && &rp_thread_state == rp_owner)
        end(true);
}

struct start {
    const char *name;
    int required, provided, rc;
};

static void start_library(struct start *s)
{
    void *function = library_function(s->name);

    if (strstr(s->name, "thread"))
        s->rc = ((int (*)(int, int *))function)(s->required, &s->provided);
    else if (strstr(s->name, "start_pes"))
        ((void (*)(int))function)(0);
    else
        ((void (*)(void))function)();
}

static void start(struct start *s)
{
    bool is_partial = rp_setting("REPRISE_SOLO");

    if (life != NEVER && is_partial)
        return; /* a second start does nothing */
    if (!is_recorded(s->name[0] == 'p' ? s->name + 1 : s->name)) {
        start_library(s);
        return;
    }
    life = STARTED;
    owner = getpid();
    has_mpi = rp_life_is_begun();
    if (is_partial) {
        if (!rp_life_is_begun())
            rp_life_Init(&rp_pmpi, NULL, NULL);
    } else {
        rp_thread_state.depth++;
        reprise_partial_shmem_before();
        start_library(s);
        rp_thread_state.depth--;
        if (!rp_life_is_begun())
            rp_life_begun();
    }
    reprise_partial_shmem_begin(&s->provided);
    on_exit(at_exit, NULL);
}

/* The library also calls this when the process exits. */
static void finalize(const char *name)
{
    if (life == STARTED)
        end(false);
    else if (life == NEVER)
        ((void (*)(void))library_function(name))();
}

static void end_all(const char *name, int status)
{
    bool is_partial = rp_setting("REPRISE_SOLO") && life != NEVER;

    if (rp_engine && life != NEVER) {
        rp_thread_state.depth = 1;
        rp_engine->abort(status);
        rp_engine = NULL;
    }
    life = life == NEVER ? NEVER : ENDED;
    if (is_partial)
        exit(status);
    ((void (*)(int))library_function(name))(status);
}

#define NAMES(prefix)                                                                              \
    ENTRY void prefix##shmem_init(void)                                                            \
    {                                                                                              \
        start(&(struct start){.name = #prefix "shmem_init"});                                      \
    }                                                                                              \
                                                                                                   \
    ENTRY int prefix##shmem_init_thread(int required, int *provided)                               \
    {                                                                                              \
        struct start s = {.name = #prefix "shmem_init_thread", .required = required};              \
                                                                                                   \
        start(&s);                                                                                 \
        *provided = s.provided;                                                                    \
        return s.rc;                                                                               \
    }                                                                                              \
                                                                                                   \
    ENTRY void prefix##start_pes(int pes)                                                          \
    {                                                                                              \
        (void)pes; /* the number of PEs is ignored */                                              \
        start(&(struct start){.name = #prefix "start_pes"});                                       \
    }                                                                                              \
                                                                                                   \
    ENTRY void prefix##shmem_finalize(void)                                                        \
    {                                                                                              \
        finalize(#prefix "shmem_finalize");                                                        \
    }                                                                                              \
                                                                                                   \
    ENTRY void prefix##shmem_global_exit(int status)                                               \
    {                                                                                              \
        end_all(#prefix "shmem_global_exit", status);                                              \
    }

void shmem_init(void), pshmem_init(void), shmem_finalize(void), pshmem_finalize(void),
    start_pes(int), pstart_pes(int), shmem_global_exit(int), pshmem_global_exit(int),
    globalexit(int);
int shmem_init_thread(int, int *), pshmem_init_thread(int, int *);

NAMES()
NAMES(p)

ENTRY void globalexit(int status)
{
    end_all("globalexit", status);
}
#endif
