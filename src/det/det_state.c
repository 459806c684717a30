/* SPDX-License-Identifier: MIT */
/* The digest of a rank is in the shared state: it can be read when the rank is gone. */
#include "det/det_state.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "det/det_status.h"
#include "job/settings.h"
#include "log/det_digest.h"
#include "preload/constants.h"
#include "preload/family.h"
#include "preload/yield.h"
#include "reprise.h"

struct rp_det rp_det;
__thread int rp_det_is_owner;

/* The command that started the job. */
static void tell_end(int exit_status)
{
    struct rp_problem why;
    const char *path = rp_setting("REPRISE_DECISIONS");

    if (path)
        rp_det_digest_end(path, exit_status, &why);
}

void rp_det_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    if (exit_status == REPRISE_EXIT_DEADLOCK || exit_status == REPRISE_EXIT_ERROR)
        tell_end(exit_status);
    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}

void rp_det_refuse(const char *function)
{
    rp_error("%s cannot be made deterministic", function);
    rp_det_end_job(REPRISE_EXIT_UNSUPPORTED);
}

void rp_det_refuse_thread(const char *function)
{
    static atomic_int said;

    while (atomic_exchange(&said, 1)) /* other threads may get here too */
        pause();
    if (rp_det.is_on)
        rp_shared_may_report(); /* what others wait for may be messages of this thread */
    rp_error("%s by another thread than the one that initialised MPI: a program in which several "
             "threads call MPI cannot be made deterministic",
             function);
    if (rp_is_openmpi()) { /* its launcher ends the job; an abort by another thread upsets it now
                              and then */
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        _exit(REPRISE_EXIT_UNSUPPORTED);
    }
    rp_det_end_job(REPRISE_EXIT_UNSUPPORTED);
}

uint64_t rp_det_digest_mix(uint64_t digest, uint64_t value)
{
    uint64_t x = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);

    return x ^ x >> 29;
}

void rp_det_decided(enum rp_det_decision decision, uint64_t a, uint64_t b)
{
    struct rp_shared_rank *own = rp_shared.own;

    if (rp_det.whose != REPRISE_DET_PROGRAMS)
        return;
    own->digest =
        rp_det_digest_mix(rp_det_digest_mix(rp_det_digest_mix(own->digest, decision), a), b);
    if (decision == RP_DET_MATCH)
        own->matches++;
    else
        own->answers++;
    rp_det_status_count(own->matches + own->answers);
    rp_needs_no_yield = decision == RP_DET_ANSWER && a == 0;
}

void rp_det_delay(void)
{
    static uint64_t state;

    if (state == 0)
        state = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)time(NULL);
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (state >> 61 == 0)
        usleep((useconds_t)((state >> 33) % (uint64_t)rp_det.delay));
}
