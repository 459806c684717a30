/* SPDX-License-Identifier: MIT */
/*
 * What the leader of a host hears from another one in a deterministic run: the input is what comes
 * through the connection. Four ranks, two of them elsewhere. Whatever is said, it is taken or the
 * run ends with a word; and then the bounds can be found, and it can be told who waits for whom.
 */
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static jmp_buf gave_up;

#define _exit(status) longjmp(gave_up, status)
#include "../../src/det/shared_state.c"
#include "../../src/det/shared_messages.c"
#include "../../src/det/shared_collectives.c"
#include "../../src/det/shared_bounds.c"
#include "../../src/det/shared_describe.c"
#include "../../src/det/leader_state.c"
#include "../../src/det/leader_send.c"
#include "../../src/det/leader_receive.c"
#undef _exit

enum { RANKS = 4, HOSTS = 2 };

static const uint32_t host_of[RANKS] = {0, 0, 1, 1};

/* As rp_shared_map does, but of memory that no other process has. Collectives and messages are
 * cleared when they are used. */
static void open_side(void)
{
    static char *memory;
    static bool has_started;
    struct rp_problem why;
    uint64_t size = lay_out(RANKS);

    if (!memory)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FUZZ_CHECK(memory != MAP_FAILED);
    memset(memory, 0, layout.collectives);
    layout.common = (struct rp_shared_common *)(void *)memory;
    memset(&own_messages, 0, sizeof own_messages);
    rp_shared = (struct rp_shared){.ranks = RANKS, .memory = memory, .latency = 1};
    rp_shared_set_hosts(host_of, HOSTS, 0);
    rp_shared.all = (struct rp_shared_rank *)(void *)(memory + layout.states);
    rp_shared.own = &rp_shared.all[0];
    rp_shared.own->version = 1;
    rp_shared.clock = rp_shared_clock_page(0);
    FUZZ_CHECK(has_started || rp_shared_bounds_start(&why) == RP_OK);
    has_started = true;
}

static void open_leader(void)
{
    static bool has_room;

    if (!has_room)
        FUZZ_CHECK(rp_leader_make_room());
    has_room = true;
    for (uint32_t h = 0; h < HOSTS; h++) {
        rp_buffer_free(&rp_leader.peers[h].out);
        rp_buffer_free(&rp_leader.peers[h].in);
        rp_leader.peers[h] = (struct rp_leader_peer){.fd = -1};
    }
    memset(rp_leader.states, 0, RANKS * rp_leader_rank_size());
    memset(rp_leader.changed, 0, RANKS * sizeof *rp_leader.changed);
    memset(rp_leader.sent, 0, RANKS * HOSTS * sizeof *rp_leader.sent);
    memset(rp_leader.received, 0, RANKS * HOSTS * sizeof *rp_leader.received);
    memset(rp_leader.received_changed, 0, RANKS * HOSTS * sizeof *rp_leader.received_changed);
    memset(rp_leader.arrivals, 0, HOSTS * sizeof *rp_leader.arrivals);
    memset(rp_leader.sites, 0, RANKS * HOSTS * sizeof *rp_leader.sites);
    memset(rp_leader.arrivals_known, 0, HOSTS * HOSTS * sizeof *rp_leader.arrivals_known);
    memset(rp_leader.messages, 0, RANKS * sizeof *rp_leader.messages);
}

static void put_number(struct rp_buffer *text, uint64_t id)
{
    rp_buffer_printf(text, " on %llu", (unsigned long long)id);
}

/* Another process of the host, which finds what the leader has put there. */
static void look_round(void)
{
    struct rp_shared_plan plan = {.wait = RP_WAIT_ANY, .candidate = RP_SEND_NEVER};
    struct rp_buffer text = {0};
    uint32_t chain[RANKS];
    struct rp_deadlock_cycle cycle = {.chain = chain};

    rp_shared_block(&plan, "MPI_Recv");
    rp_shared_bounds(NULL);
    const uint64_t *bounds = rp_shared_cycle(&cycle);
    if (cycle.count > 0)
        rp_shared_describe(&text, &cycle, bounds, put_number);
    rp_buffer_free(&text);
    rp_shared_unblock();
    for (uint64_t at = rp_shared_oldest_first(rp_shared_inbox_take()); at != 0;
         at = rp_shared_message_at(at)->next)
        FUZZ_CHECK(rp_shared_message_at(at)->source < RANKS && rp_shared_message_at(at)->is_copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0) /* a connection that ends */
        return 0;
    open_side();
    open_leader();
    struct rp_leader_peer *peer = &rp_leader.peers[1];
    rp_buffer_put(&peer->in, bytes, length);
    if (setjmp(gave_up) != 0)
        return 0;
    receive_all(peer);
    look_round();
    rp_leader_send_all();
    return 0;
}
