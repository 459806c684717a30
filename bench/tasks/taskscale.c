/* SPDX-License-Identifier: MIT */
/*
 * A model of fault tolerance by tasks, without MPI: what the protocol of src/task sends, logs and
 * stores for the workloads leanmd, stencil3d and hydro, and how long recovery takes, at sizes that
 * no machine here has.
 *
 * Messages, remote messages and log bytes are not estimated: all messages of a step are gone
 * through, with the runtime's own mapping of tasks and names of messages. `taskscale check ...`
 * tells them for a run that can also be made (bench/run tasks scale compares). Determinants with
 * full logging are one a message; each is sent to at least one process, and at most to all that its
 * process talks to before it hears from one. Recovery:
 *
 *   partial, full  detection + state of a process / bandwidth
 *                  + half a period of its work / min(R, tasks of a process)
 *   restart        detection + the same transfer + half a period
 *
 * with the checkpoint periods that table II of Lifflander et al., Scalable Replay with
 * Partial-Order Dependencies, has for 65,536 to 1,048,576 sockets (Daly's formula, 10 years between
 * failures of a socket).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match/message_id.h"

enum { HEAD = 48, START_PATH = 0 };

struct counts {
    uint64_t messages, remote, log_bytes, tasks, state_bytes;
    uint64_t neighbours; /* processes that one talks to, the most */
};

struct shape {
    uint64_t processes, size, side, steps, runs;
};

/* The runtime's mapping of a collection without a map. */
static uint64_t owner(uint64_t number, uint64_t count, uint64_t processes)
{
    return number * processes / count;
}

/* Bytes of the name of the child-th message that the end of a region of this entry sends. */
static uint64_t end_path(uint32_t entry, uint32_t child)
{
    struct rp_message_id nobody = {0};
    struct rp_cpi cpi;

    return rp_cpi_child(&nobody, 2 * entry + 1, child, &cpi) ? (cpi.bits + 7u) / 8 : 0;
}

static void send(struct counts *c, uint64_t from, uint64_t to, uint64_t bytes, uint64_t path)
{
    c->messages++;
    if (from == to)
        return;
    c->remote++;
    c->log_bytes += HEAD + bytes + path;
}

static void at_of(uint64_t number, uint64_t side, int64_t at[3])
{
    at[0] = (int64_t)(number % side), at[1] = (int64_t)(number / side % side),
    at[2] = (int64_t)(number / side / side);
}

static bool neighbour(uint64_t number, uint64_t side, int d, uint64_t *other)
{
    int64_t at[3];

    at_of(number, side, at);
    at[d / 2] += d % 2 ? 1 : -1;
    *other = (uint64_t)(at[0] + (int64_t)side * (at[1] + (int64_t)side * at[2]));
    return at[d / 2] >= 0 && at[d / 2] < (int64_t)side;
}

/* One exchange of faces; `directions`: 1 all six, 2 the lower three. `entry`: of the region whose
 * end tells them, or -1: an ordered entry. */
static void faces(struct counts *c, const struct shape *s, int directions, int entry)
{
    uint64_t count = s->side * s->side * s->side, other, bytes = 8 * (1 + s->size * s->size);

    for (uint64_t i = 0; i < count; i++) {
        uint32_t child = 0;
        for (int d = 0; d < 6; d += directions)
            if (neighbour(i, s->side, d, &other)) {
                send(c, owner(i, count, s->processes), owner(other, count, s->processes), bytes,
                     entry < 0 ? START_PATH : end_path((uint32_t)entry, child));
                child++;
            }
    }
}

/* Contributions to reduction number `which` (from 1), and its result to all. */
static void reduction(struct counts *c, const struct shape *s, uint64_t which, uint64_t numbers,
                      int entry, bool is_back, uint32_t child)
{
    uint64_t count = s->side * s->side * s->side, root = which % s->processes;

    for (uint64_t i = 0; i < count; i++)
        send(c, owner(i, count, s->processes), root, 8 + 8 * numbers,
             entry < 0 ? START_PATH : end_path((uint32_t)entry, child));
    for (uint64_t i = 0; is_back && i < count; i++)
        send(c, root, owner(i, count, s->processes), 8 * numbers, end_path(0, (uint32_t)i));
}

static struct counts stencil3d(const struct shape *s)
{
    struct counts c = {.tasks = s->side * s->side * s->side, .neighbours = 6};
    uint64_t rim = s->size + 2;

    c.state_bytes = c.tasks * 16 * rim * rim * rim;
    c.messages += c.tasks * s->runs; /* starts */
    for (uint64_t step = 0; step < s->steps * s->runs; step++)
        faces(&c, s, 1, step % s->steps == 0 ? -1 : 1);
    reduction(&c, s, 1, 3, 1, false, 0);
    return c;
}

static struct counts hydro(const struct shape *s)
{
    struct counts c = {.tasks = s->side * s->side * s->side, .neighbours = 6};
    uint64_t rim = s->size + 2;

    c.state_bytes = c.tasks * 48 * rim * rim * rim;
    c.messages += c.tasks * s->runs;
    for (uint64_t step = 0; step < s->steps * s->runs; step++) {
        faces(&c, s, 1, -1); /* told by `start` or `time`, which are ordered */
        faces(&c, s, 2, 1);
        reduction(&c, s, 1, 1, 2, true, 0);
    }
    reduction(&c, s, 2, 3, -1, false, 0);
    return c;
}

static struct counts leanmd(const struct shape *s)
{
    uint64_t count = s->side * s->side * s->side, bytes = 16 + 24 * s->size;
    struct counts c = {.tasks = 15 * count,
                       .neighbours = 26,
                       .state_bytes =
                           count * 8 * (4 + 64 * 3 * 29) + 14 * count * 8 * (1 + 128 * 3)};
    int64_t at[3], n = (int64_t)s->side;

    c.messages += count * s->runs;
    for (uint64_t step = 0; step < s->steps * s->runs; step++)
        for (uint64_t i = 0; i < count; i++) {
            at_of(i, s->side, at);
            for (int d = 0; d < 27; d++) {
                int64_t x = (at[0] + d % 3 - 1 + n) % n, y = (at[1] + d / 3 % 3 - 1 + n) % n,
                        z = (at[2] + d / 9 - 1 + n) % n;
                uint64_t other = (uint64_t)(x + n * (y + n * z)),
                         pair = d < 13 ? other + count * (uint64_t)(13 - d)
                                       : i + count * (uint64_t)(d - 13);
                uint64_t cell_at = owner(i, count, s->processes),
                         pair_at = owner(pair, 14 * count, s->processes);
                send(&c, cell_at, pair_at, bytes,
                     step % s->steps == 0 ? START_PATH : end_path(1, (uint32_t)d));
                send(&c, pair_at, cell_at, bytes,
                     end_path(
                         0,
                         d < 13)); /* the force comes back; to the neighbour as the second child */
            }
        }
    reduction(&c, s, 1, 3, 1, false, 0);
    return c;
}

static const struct workload {
    const char *name;
    struct counts (*count)(const struct shape *);
    uint64_t size, tasks; /* of the table: cells or atoms, tasks a process */
    struct period {
        uint64_t sockets;
        double checkpoint_ms, tau, steps;
    } periods[5];
} workloads[] = {
    {"leanmd",
     leanmd,
     64,
     30,
     {{65536, 59.9, 23.9, 90},
      {131072, 58.2, 16.7, 123},
      {262144, 57.4, 11.7, 168},
      {524288, 57.3, 8.3, 206},
      {1048576, 56.2, 5.8, 220}}},
    {"stencil3d",
     stencil3d,
     64,
     8,
     {{65536, 455, 65.8, 112},
      {131072, 223, 32.6, 109},
      {262144, 112, 16.3, 109},
      {524288, 57, 8.2, 110},
      {1048576, 30, 4.3, 115}}},
    {"hydro",
     hydro,
     16,
     8,
     {{65536, 370, 59.3, 195},
      {131072, 187, 29.8, 194},
      {262144, 96, 15.1, 196},
      {524288, 49, 7.6, 197},
      {1048576, 26, 3.9, 198}}},
};

static uint64_t cube_root(uint64_t value)
{
    uint64_t side = 1;

    while ((side + 1) * (side + 1) * (side + 1) <= value)
        side++;
    return side;
}

static const double detection = 0.01,
                    bandwidth = 4e8; /* seconds; bytes a second, of the paper's machine */

static void print_line(const struct workload *w, uint64_t sockets, const struct period *period)
{
    uint64_t per_cell = w->count == leanmd ? 15 : 1;
    struct shape s = {.processes = sockets,
                      .size = w->size,
                      .side = cube_root(sockets * w->tasks / per_cell),
                      .steps = 1,
                      .runs = 1};
    s.side = s.side < 3 ? 3 : s.side;
    struct shape two = s;
    two.steps = 2;
    struct counts first = w->count(&s), more = w->count(&two); /* what another step adds */
    double steps = period->steps, all = (double)sockets;
    double messages = (double)(more.messages - first.messages) * steps / all,
           log = (double)(more.log_bytes - first.log_bytes) * steps / all,
           state = (double)first.state_bytes / all;
    double tasks = (double)first.tasks / all, spread = tasks < 16 ? tasks : 16,
           half = period->tau / 2, fixed = detection + state / bandwidth;
    double partial = fixed + half / (spread < 1 ? 1 : spread), restart = fixed + half;

    printf("%-9s %8" PRIu64 " %9" PRIu64
           " %6.1f %10.0f %10.1f %8.0f %9.2f..%-8.2f %8.2f %8.2f %6.1f\n",
           w->name, sockets, first.tasks, tasks, messages, log / 1e6, messages, messages * 12 / 1e3,
           messages * 12 / 1e3 * (double)first.neighbours, partial, restart, restart / partial);
}

static int table(void)
{
    printf("a process and period: %29s %21s %17s\n", "", "full determinants", "recovery, s");
    printf("%-9s %8s %9s %6s %10s %10s %8s %9s..%-8s %8s %8s %6s\n", "workload", "sockets", "tasks",
           "each", "messages", "log, MB", "number", "KB, least", "most", "partial", "restart",
           "ratio");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        for (uint64_t sockets = 1024; sockets < 65536; sockets *= 8)
            print_line(&workloads[i], sockets,
                       &workloads[i].periods[0]); /* below the paper's table: its first period */
        for (int k = 0; k < 5; k++)
            print_line(&workloads[i], workloads[i].periods[k].sockets, &workloads[i].periods[k]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return table();
    for (size_t i = 0;
         argc == 8 && strcmp(argv[1], "check") == 0 && i < sizeof workloads / sizeof *workloads;
         i++) {
        struct shape s = {strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10),
                          strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10),
                          strtoull(argv[7], NULL, 10)};
        if (strcmp(argv[2], workloads[i].name) != 0 || s.processes == 0 || s.side == 0)
            continue;
        struct counts c = workloads[i].count(&s);
        printf("messages=%" PRIu64 " remote=%" PRIu64 " log_bytes=%" PRIu64 "\n", c.messages,
               c.remote, c.log_bytes);
        return 0;
    }
    fprintf(stderr, "usage: taskscale | taskscale check WORKLOAD PROCESSES SIZE SIDE STEPS RUNS\n");
    return 120;
}
