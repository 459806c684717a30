/* SPDX-License-Identifier: MIT */
/*
 * Search of an unbalanced tree with work stealing in OpenSHMEM, as apps/onesided/steal.c does with
 * MPI. Each PE has a stack of its own, and a queue in the symmetric heap, from which others steal
 * half while they hold its lock, a word that is swapped; the victim does not take part, and looks
 * at its own queue by loads and stores. Who steals what from whom is a race, and a hash records it.
 * A counter at PE 0 holds the nodes that were found but not yet searched; when it is 0, all end.
 * The number of nodes must be that of a serial search.
 *
 * usage: oshsteal [CHANCES [ROOTS [WORK]]]: in 1000, that a node has five children; children of the
 * root; steps of arithmetic that a node takes
 */
#include <sched.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 4096, CHUNK = 16, CHILDREN = 5, DEEPEST = 1 << 20 };

struct queue {
    long lock, bottom, top; /* thieves take from the bottom */
    uint64_t node[QUEUE];
};

static struct queue *queue;
static long *open_nodes, *total; /* at PE 0; in the heap, since Open MPI 4.1.4 may wait for ever for
                                    static data of a PE that waits for itself */
static uint64_t *stack, depth, hash, chance, work = 10000;
static int me, pes;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void note(uint64_t value)
{
    hash = mix(hash * 31 + value + 1);
}

static int children_of(uint64_t node)
{
    return mix(node) % 1000 < chance ? CHILDREN : 0;
}

static void push(uint64_t node)
{
    if (depth == DEEPEST)
        shmem_global_exit(9);
    stack[depth++] = node;
}

static long search(uint64_t node)
{
    volatile uint64_t x = node;

    for (uint64_t i = 0; i < work; i++)
        x = x * 6364136223846793005u + 1;
    for (int i = 0; i < children_of(node); i++)
        push(mix(node * 31 + (uint64_t)i + 1));
    return children_of(node) - 1;
}

static void lock(int pe)
{
    while (shmem_long_atomic_compare_swap(&queue->lock, 0, me + 1, pe) != 0)
        sched_yield();
}

static void unlock(int pe)
{
    shmem_quiet();
    shmem_long_atomic_set(&queue->lock, 0, pe);
}

/* Half of the stack becomes public, if nobody finds anything there. */
static void share(void)
{
    if (depth < 2 * CHUNK || shmem_long_g(&queue->top, me) > shmem_long_g(&queue->bottom, me))
        return;
    lock(me);
    queue->bottom = 0;
    queue->top = (long)(depth / 2 < QUEUE ? depth / 2 : QUEUE);
    memcpy(queue->node, stack, (size_t)queue->top * sizeof *stack);
    depth -= (uint64_t)queue->top;
    memmove(stack, stack + queue->top, depth * sizeof *stack);
    unlock(me);
}

static void take(const uint64_t *nodes, long count)
{
    for (long i = 0; i < count; i++)
        push(nodes[i]);
}

static void take_back(void)
{
    lock(me);
    take(queue->node + queue->bottom, queue->top - queue->bottom);
    queue->top = queue->bottom = 0;
    unlock(me);
}

static void steal(int victim)
{
    static uint64_t nodes[QUEUE];
    long ends[2];

    shmem_long_get(ends, &queue->bottom, 2, victim);
    if (ends[1] <= ends[0])
        return;
    lock(victim);
    shmem_long_get(ends, &queue->bottom, 2, victim);
    long count = (ends[1] - ends[0] + 1) / 2;
    if (count > 0) {
        shmem_getmem(nodes, &queue->node[ends[0]], (size_t)count * sizeof *nodes, victim);
        shmem_long_p(&queue->bottom, ends[0] + count, victim);
        note((uint64_t)victim << 32 | (uint64_t)count);
    }
    unlock(victim);
    take(nodes, count > 0 ? count : 0);
}

static long serial(uint64_t root)
{
    long count = 1;

    for (int i = 0; i < children_of(root); i++)
        count += serial(mix(root * 31 + (uint64_t)i + 1));
    return count;
}

int main(int argc, char **argv)
{
    chance = argc > 1 ? strtoull(argv[1], NULL, 10) : 194;
    uint64_t roots = argc > 2 ? strtoull(argv[2], NULL, 10) : 400, random = 1;
    long searched = 0, difference = 0;

    work = argc > 3 ? strtoull(argv[3], NULL, 10) : work;
    if (chance >= 200) {
        fprintf(stderr, "oshsteal: with 200 chances and more the tree has no end\n");
        return 2;
    }
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    queue = shmem_calloc(1, sizeof *queue);
    stack = malloc(DEEPEST * sizeof *stack);
    for (uint64_t i = 0; me == 0 && i < roots; i++)
        push(mix(i + 77));
    open_nodes = shmem_calloc(2, sizeof *open_nodes);
    total = open_nodes + 1;
    shmem_barrier_all();
    *open_nodes = me == 0 ? (long)roots : 0;
    shmem_barrier_all();
    for (;;) {
        while (depth > 0) {
            share();
            difference += search(stack[--depth]);
            searched++;
        }
        take_back();
        if (depth > 0)
            continue;
        long left = shmem_long_atomic_fetch_add(open_nodes, difference, 0) + difference;
        difference = 0;
        if (left == 0)
            break;
        if (pes > 1)
            steal((me + 1 + (int)((random = mix(random + (uint64_t)me)) % (uint64_t)(pes - 1))) %
                  pes);
        sched_yield();
    }
    shmem_long_atomic_add(total, searched, 0);
    note((uint64_t)searched);
    printf("rank %d: hash=%016llx searched=%ld\n", me, (unsigned long long)hash, searched);
    fflush(stdout);
    shmem_barrier_all();
    int bad = 0;
    if (me == 0) {
        long expected = 0;
        for (uint64_t i = 0; i < roots; i++)
            expected += serial(mix(i + 77));
        bad = *total != expected;
        printf("RESULT nodes=%ld %s\n", *total, bad ? "VERIFY FAILED" : "ok");
    }
    shmem_finalize();
    return bad;
}
