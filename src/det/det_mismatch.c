/* SPDX-License-Identifier: MIT */
/* Collective calls that do not match, and requests that are used after their end. */
#include "det/det_mismatch.h"

#include <unistd.h>

#include "base/diagnostics.h"
#include "det/det_comms.h"
#include "det/det_operations.h"
#include "det/det_sites.h"
#include "det/shared_collectives.h"
#include "reprise.h"

static void __attribute__((noreturn)) end_by_error(struct rp_buffer *text)
{
    rp_buffer_byte(text, 0);
    if (!text->failed)
        rp_error("%s", (char *)text->bytes);
    rp_det_end_job(REPRISE_EXIT_ERROR);
}

static void await_the_end(void)
{
    if (rp_shared_may_report())
        return;
    sleep(10); /* the rank that speaks ends the job */
    _exit(REPRISE_EXIT_ERROR);
}

static void put_root(struct rp_buffer *text, int root)
{
    if (root == MPI_ROOT)
        rp_buffer_printf(text, " with MPI_ROOT");
    else if (root == MPI_PROC_NULL)
        rp_buffer_printf(text, " with MPI_PROC_NULL as root");
    else
        rp_buffer_printf(text, " with root %d", root);
}

/* What differs, if it is not the function. */
static void put_call(struct rp_buffer *text, const struct rp_shared_call *call,
                     const struct rp_shared_call *other)
{
    rp_buffer_printf(text, "rank %s calls ", rp_shared_rank_name(call->rank).text);
    rp_det_put_function(text, call->rank, call->site);
    if (call->function == other->function && call->op != other->op)
        rp_buffer_printf(text, " with %s", rp_det_op_name(call->op));
    if (call->function == other->function && call->root != other->root)
        put_root(text, call->said);
    rp_det_put_place(text, call->rank, call->site);
}

static void report_mismatch(const struct rp_shared_collective *collective)
{
    const struct rp_shared_call *one = &collective->first, *other = &collective->other;
    bool is_turned = one->rank > other->rank;
    struct rp_buffer text = {0};

    rp_buffer_printf(&text, "collective calls do not match");
    rp_det_put_comm_of(&text, collective->comm);
    rp_buffer_printf(&text, ": ");
    put_call(&text, is_turned ? other : one, is_turned ? one : other);
    rp_buffer_printf(&text, ", ");
    put_call(&text, is_turned ? one : other, is_turned ? other : one);
    rp_buffer_printf(&text, ", each as collective call %llu there",
                     (unsigned long long)collective->number);
    end_by_error(&text);
}

static bool is_member(const struct rp_shared_collective *collective)
{
    return atomic_load(&collective->bits[rp_shared.rank / 64]) >> rp_shared.rank % 64 & 1;
}

/* A member knows the name of the communicator. */
void rp_det_check_mismatch(void)
{
    const struct rp_shared_collective *collective = rp_shared_mismatch();

    if (!collective)
        return;
    if (!is_member(collective))
        sleep(1);
    await_the_end();
    report_mismatch(collective);
}

void rp_det_report_stale(const char *became, uint32_t site)
{
    struct rp_buffer text = {0};

    await_the_end();
    rp_buffer_printf(&text, "%s", rp_det.function);
    rp_det_put_place(&text, rp_shared.rank, rp_det_site());
    rp_buffer_printf(&text, " uses a request that %s", became);
    rp_det_put_place(&text, rp_shared.rank, site);
    end_by_error(&text);
}
