/* SPDX-License-Identifier: MIT */
/*
 * usage: records FOLDER RANKS EVENTS SEED MANNER [TEXT]: makes a record of a program that never
 * ran, with about so many events in all. Ranks send to their neighbours and to rank 0, and take
 * what has come: by wildcards, by name, or with Waitsome after polls. Lamport clocks and times are
 * those that such a run would have. MANNER is `clocks`, `times`, `both` or `none`. TEXT stands for
 * every name: program, command, host, functions and modules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "log/logwriter.h"
#include "log/manifest.h"

#define RUN UINT64_C(0x60cde2ec02d00002)
#define NOW UINT64_C(1700000000000000)
enum { QUEUE = 8, SITES = 5 };

static void need(bool good, const char *what, const char *why)
{
    if (good)
        return;
    fprintf(stderr, "records: %s: %s\n", what, why);
    exit(1);
}

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

struct letter {
    int32_t source, tag;
    uint64_t clock;
};

struct rank {
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct letter queue[QUEUE]; /* sent to it and not yet taken, in order */
    size_t waiting;
    uint64_t clock, posts, events;
};

static bool clocks, times;
static const char *text;
static uint64_t now = NOW;

static const char *name(const char *usual)
{
    return text ? text : usual;
}

static void put_site(struct rp_log_writer *writer, uint32_t number, const char *function)
{
    struct rp_buffer records = {0};

    if (number == 0) {
        rp_buffer_byte(&records, 'M');
        rp_buffer_string(&records, "\xca\xfe", 2);
        rp_buffer_string(&records, name("/opt/ocean/bin/ocean"),
                         strlen(name("/opt/ocean/bin/ocean")));
    }
    rp_buffer_byte(&records, 'S');
    rp_buffer_string(&records, name(function), strlen(name(function)));
    rp_buffer_varint(&records, 1);
    rp_buffer_varint(&records, 1);
    rp_buffer_varint(&records, 0x1000 + 64 * number);
    rp_log_sites(writer, &records, number, 1);
    rp_buffer_free(&records);
}

static void push(struct rank *r, struct rp_event event)
{
    if (times)
        r->ring->times[r->ring->head % RP_RING_CAPACITY] = now;
    *rp_ring_slot(r->ring) = event;
    rp_ring_publish(r->ring);
    r->events++;
}

static void push_clock(struct rank *r, uint32_t site, const struct letter *letter, int32_t index,
                       uint32_t left)
{
    r->clock = (letter->clock > r->clock ? letter->clock : r->clock) + 1;
    if (clocks)
        push(r, (struct rp_event)RP_EVENT(RP_CLOCK, site, 0, left, letter->source, index,
                                          letter->clock));
}

/* The first message of a sender, since messages do not overtake each other. */
static struct letter take(struct rank *r)
{
    size_t at = chance((uint32_t)r->waiting);

    for (size_t i = 0; i < at; i++)
        if (r->queue[i].source == r->queue[at].source)
            at = i;
    struct letter letter = r->queue[at];
    memmove(&r->queue[at], &r->queue[at + 1], (--r->waiting - at) * sizeof letter);
    return letter;
}

static void receive(struct rank *r)
{
    struct letter letter = take(r);
    uint32_t way = chance(8);

    if (way < 4) {
        push(r, (struct rp_event)RP_EVENT(RP_RECV, 0, 0, 0, letter.source, letter.tag, 0));
        push_clock(r, 0, &letter, -1, 0);
    } else if (way < 6) {
        push_clock(r, 1, &letter, -1, 0);
    } else if (way < 7) {
        push(r, (struct rp_event)RP_EVENT(RP_NO, 2, 0, 4, 0, 0, 1 + chance(30)));
        push(r, (struct rp_event)RP_EVENT(RP_YES, 2, 1, 4, (int32_t)chance(4), 1, 0));
        push(r,
             (struct rp_event)RP_EVENT(RP_MATCH, 2, 0, 0, letter.source, letter.tag, r->posts++));
        push_clock(r, 2, &letter, 0, 0);
    } else {
        push(r, (struct rp_event)RP_EVENT(RP_PROBE, 3, 0, 0, letter.source, letter.tag, 0));
        push_clock(r, 4, &letter, -1, 0);
    }
}

static void send(struct rank *ranks, uint32_t count, uint32_t from)
{
    uint32_t way = chance(8), to = way < 3   ? (from + 1) % count
                                   : way < 6 ? (from + count - 1) % count
                                   : way < 7 ? 0
                                             : chance(count);

    if (to == from || ranks[to].waiting == QUEUE)
        return;
    ranks[to].queue[ranks[to].waiting++] =
        (struct letter){(int32_t)from, 7 + (int32_t)(way == 6), ranks[from].clock++};
}

static void start(const char *folder, uint32_t count, struct rank *ranks)
{
    static const char *const functions[SITES] = {"MPI_Recv", "MPI_Recv", "MPI_Testsome",
                                                 "MPI_Probe", "MPI_Mrecv"};
    char *command[] = {"mpirun", "-n", "64", (char *)name("./ocean"), "--steps", "100", NULL},
         *allowed[] = {NULL};
    struct rp_manifest manifest = {.run = RUN,
                                   .ranks = count,
                                   .mpi = "openmpi",
                                   .mpi_version = "Open MPI v4.1.4",
                                   .program = (char *)name("/opt/ocean/bin/ocean"),
                                   .build_id = "cafe",
                                   .directory = (char *)name("/opt/ocean"),
                                   .host = (char *)name("node17"),
                                   .started = "2024-02-29T12:00:00Z",
                                   .reprise = "0.1.0",
                                   .command = command,
                                   .allowed = allowed,
                                   .clocks = clocks ? "lamport" : ""};
    struct rp_problem why;

    need(rp_make_directory(folder, false, &why) == RP_OK, "directory", why.text);
    need(rp_manifest_write(folder, &manifest, &why) == RP_OK, "manifest", why.text);
    for (uint32_t i = 0; i < count; i++) {
        struct rp_log_manner manner = {.codec = &rp_codec_tables,
                                       .is_inline = true,
                                       .timed = times};
        need(rp_log_create(folder, RUN, i, count, &manner, &ranks[i].writer, &why) == RP_OK, "log",
             why.text);
        need(rp_log_stream(ranks[i].writer, 0, &ranks[i].ring, &why) == RP_OK, "stream", why.text);
        for (uint32_t site = 0; site < SITES; site++)
            put_site(ranks[i].writer, site, functions[site]);
    }
}

int main(int argc, char **argv)
{
    need(argc == 6 || argc == 7, "usage",
         "records FOLDER RANKS EVENTS SEED clocks|times|both|none [TEXT]");
    uint32_t count = (uint32_t)atoi(argv[2]);
    uint64_t wanted = strtoull(argv[3], NULL, 10), made = 0;
    struct rank *ranks = calloc(count, sizeof *ranks);
    struct rp_problem why;

    need(ranks && count > 1, "ranks", argv[2]);
    seed = strtoull(argv[4], NULL, 10);
    clocks = strcmp(argv[5], "clocks") == 0 || strcmp(argv[5], "both") == 0;
    times = strcmp(argv[5], "times") == 0 || strcmp(argv[5], "both") == 0;
    text = argc == 7 ? argv[6] : NULL;
    start(argv[1], count, ranks);
    while (made < wanted) {
        uint32_t rank = chance(count);
        uint64_t before = ranks[rank].events;
        now += chance(3);
        send(ranks, count, rank);
        if (ranks[rank].waiting > 0 && chance(4) > 0)
            receive(&ranks[rank]);
        made += ranks[rank].events - before;
    }
    for (uint32_t i = 0; i < count; i++)
        need(rp_log_close(ranks[i].writer, i == 1 && text ? RP_END_ABORT : RP_END_FINALIZE,
                          i == 1 && text ? 7 : 0, &why) == RP_OK,
             "close", why.text);
    need(rp_manifest_complete(argv[1], &why) == RP_OK, "complete", why.text);
    free(ranks);
    return 0;
}
