/* SPDX-License-Identifier: MIT */
/*
 * The program's loop: reprise.h calls these functions through a table, by the stubs that are linked
 * into the program. At the beginning of each iteration there may be a checkpoint; a rollback goes
 * back to the beginning of the loop by longjmp.
 *
 * --check: what lies between two checkpoints is done twice. The second time must end with the same
 * state. Channels go on; only what the program sees goes back.
 */
#include "ft/ft_loop.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_checkpoint.h"
#include "ft/ft_collectives.h"
#include "ft/ft_comms.h"
#include "ft/ft_enter.h"
#include "ft/ft_generations.h"
#include "ft/ft_interval.h"
#include "ft/ft_match.h"
#include "ft/ft_process.h"
#include "ft/ft_protected.h"
#include "ft/ft_request.h"
#include "ft/ft_sessions.h"
#include "ft/ft_snapshot.h"
#include "ft/ft_state.h"
#include "job/settings.h"
#include "reprise.h"

static struct {
    jmp_buf point; /* the beginning of the loop */
    bool checks, in_second_pass;
    long checked; /* intervals */
} loop;

void rp_ft_loop_start(void)
{
    rp_ft_interval_start();
    loop.checks = rp_setting("REPRISE_FT_CHECK") != NULL;
}

static void repeat_interval_for_check(void)
{
    struct rp_ft_checkpoint *before =
        rp_ft_checkpoint_find(rp_ft_own, rp_ft_checkpointing.generation - 1);

    rp_ft_match_drop_program();
    struct rp_ft_snapshot snapshot = rp_ft_snapshot_restore_program(before);
    rp_ft_barrier(rp_ft_comm_world());
    loop.in_second_pass = true;
    rp_ft.iteration = (long)snapshot.iteration;
    longjmp(loop.point, 1);
}

static void check_interval(long iteration)
{
    if (!loop.in_second_pass) {
        rp_ft_checkpoint_take(iteration, false);
        repeat_interval_for_check();
    }
    rp_ft_protected_compare(rp_ft_snapshot_protected(
                                rp_ft_checkpoint_find(rp_ft_own, rp_ft_checkpointing.generation)),
                            iteration);
    loop.in_second_pass = false;
    loop.checked++;
}

static void begin_iteration(long iteration)
{
    rp_ft.iteration = iteration;
    rp_ft.iterations++;
    rp_ft.calls = -1;
    rp_ft_process_note_iteration();
    rp_ft_channels_begin_iteration(iteration);
    rp_ft_enter("an iteration's beginning");
}

/* The first iteration: of the program, of a checkpoint in memory, or of one in files. */
static long find_first(long from)
{
    if (loop.in_second_pass)
        return rp_ft.iteration;
    if (rp_ft_checkpointing.restart_generation >= 0)
        return rp_ft_checkpoint_resume();
    if (rp_setting("REPRISE_FT_RESTART"))
        from = rp_ft_checkpoint_restart_from_files();
    rp_ft_checkpoint_take(from, true);
    return from;
}

static long loop_first(long from)
{
    if (!rp_ft.on)
        return from;
    rp_ft_checkpointing.can_go_back = true;
    rp_ft_checkpointing.left_loop = false;
    from = find_first(from);
    rp_ft_interval_begin(from);
    begin_iteration(from);
    return from;
}

static long loop_next(long iteration)
{
    if (!rp_ft.on)
        return iteration + 1;
    iteration++;
    rp_ft_interval_update(iteration);
    bool is_due = iteration % rp_ft_checkpointing.interval == 0;
    if (is_due && loop.checks)
        check_interval(iteration);
    else if (is_due)
        rp_ft_checkpoint_take(iteration, false);
    begin_iteration(iteration);
    return iteration;
}

static void leave(void)
{
    if (!rp_ft.on || rp_ft_checkpointing.left_loop)
        return;
    rp_ft_checkpointing.left_loop = true;
    if (loop.checks && rp_ft.rank == 0)
        rp_note("%ld checkpoint intervals were done twice, with the same state at the end",
                loop.checked);
    if (rp_ft_channels_are_capped())
        rp_ft_checkpoint_take(rp_ft.iteration, true);
    rp_ft_checkpoint_end_loop();
}

static void set_interval(long iterations)
{
    if (!rp_setting("REPRISE_FT_INTERVAL") && iterations > 0)
        rp_ft_checkpointing.interval = iterations;
}

static void set_capacity(size_t bytes)
{
    if (!rp_setting("REPRISE_FT_CAPACITY"))
        rp_ft_capacity.bytes = bytes;
}

static void set_capacity_iterations(long iterations)
{
    if (iterations < 0)
        rp_ft_die(
            REPRISE_EXIT_USAGE,
            "reprise_capacity_iterations(%ld): a number of iterations is expected, or 0 for any",
            iterations);
    if (!rp_setting("REPRISE_FT_CAPACITY_ITERATIONS"))
        rp_ft_capacity.iterations = iterations;
}

static jmp_buf *loop_point(void)
{
    return &loop.point;
}

static int active(void)
{
    return rp_ft.on;
}

void rp_ft_loop_roll_back(int64_t generation)
{
    if (rp_ft.repeats_setup)
        return;
    if (!rp_ft_checkpointing.can_go_back)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "all ranks must go back to the checkpoint of generation %lld, but the program is "
                  "in no REPRISE_LOOP to whose beginning it could go back",
                  (long long)generation);
    rp_ft_checkpointing.restart_generation = generation;
    rp_ft_requests_forget();
    rp_ft_comms_forget_loop();
    rp_ft_sessions_forget_loop();
    longjmp(loop.point, 1);
}

__attribute__((visibility("default"))) const struct reprise_calls reprise_ft_calls = {
    .version = 1,
    .protect = rp_ft_protect,
    .unprotect = rp_ft_unprotect,
    .first = loop_first,
    .next = loop_next,
    .leave = leave,
    .point = loop_point,
    .active = active,
    .interval = set_interval,
    .capacity = set_capacity,
    .capacity_iterations = set_capacity_iterations,
};
