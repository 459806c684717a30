/* SPDX-License-Identifier: MIT */
#include "engine/record_events.h"

struct rp_recorder rp_recorder;

void rp_record_close_runs(void)
{
    struct rp_ring *ring = rp_recorder.ring;
    uint32_t left = rp_recorder.open;

    if (left == 0)
        return;
    for (; left != 0; left &= left - 1) {
        struct rp_event *event = rp_ring_slot(ring); /* the ring may move: look the run up after it */
        *event = ring->shared->open_run[__builtin_ctz(left)];
        event->b = __builtin_popcount(left) - 1;
    }
    rp_ring_publish(ring); /* from here on the open runs do not count */
    atomic_signal_fence(memory_order_seq_cst);
    for (left = rp_recorder.open; left != 0; left &= left - 1) {
        ring->shared->open_run[__builtin_ctz(left)].c = 0;
        rp_recorder.open_key[__builtin_ctz(left)].function = NULL;
    }
    rp_recorder.open = 0;
}

void rp_record_prepare(void)
{
    rp_record_close_runs();
    rp_ring_slot(rp_recorder.ring); /* makes room, and is given back */
    rp_recorder.ring->head--;
}

/* The first poll of its kind since the event before. */
static void open_run(const struct rp_call *call, uint32_t scope, uint32_t slot)
{
    uint32_t site = rp_record_site(call);
    struct rp_ring_header *shared = rp_recorder.ring->shared;

    shared->open_at = rp_recorder.ring->head;
    shared->open_run[slot] = (struct rp_event){RP_NO, site, 0, scope, 0, 0, 0};
    atomic_signal_fence(memory_order_seq_cst); /* a run that counts is whole */
    shared->open_run[slot].c = 1;
    rp_recorder.open_key[slot] = (struct rp_poll_key){call->function, scope};
    rp_recorder.open |= 1u << slot;
}

void rp_record_no_elsewhere(const struct rp_call *call, uint32_t scope, uint32_t slot)
{
    for (uint32_t i = 0; i < RP_OPEN_RUNS; i++, slot = (slot + 1) % RP_OPEN_RUNS) {
        const struct rp_poll_key *key = &rp_recorder.open_key[slot];
        if (!(rp_recorder.open & 1u << slot)) {
            open_run(call, scope, slot);
            return;
        }
        if (key->function == call->function && key->scope == scope) {
            rp_recorder.ring->shared->open_run[slot].c++;
            return;
        }
    }
    rp_record_close_runs(); /* others have all slots */
    open_run(call, scope, slot);
}
