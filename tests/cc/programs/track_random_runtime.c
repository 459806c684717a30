/* SPDX-License-Identifier: MIT */
/*
 * Calls the random functions with three tracked regions and three other areas, one of which lies
 * between regions, and compares what was told with what happened. It is not tracked itself.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "window/tracking.h"

extern unsigned long (*all[])(void *, void *, void *, int, int);
extern int count;
enum { SIZE = 2048, AREAS = 6, AROUND = 65536, TRIALS = 20, PAGE = 4096, LONGEST = 512 };
struct area {
    uint8_t *at;
    int is_region;
    uint8_t shadow[SIZE], first[SIZE], last[SIZE];
};

struct told {
    uint64_t number;
    uintptr_t at;
    size_t size;
    uint8_t bytes[LONGEST];
};

static struct area areas[AREAS] = {{.at = (uint8_t *)0x100000000},
                                   {.at = (uint8_t *)0x200000400, .is_region = 1},
                                   {.at = (uint8_t *)0x200100000},
                                   {.at = (uint8_t *)0x200200000, .is_region = 1},
                                   {.at = (uint8_t *)0x300000000},
                                   {.at = (uint8_t *)0x200300ff8, .is_region = 1}};
static struct told log[1 << 14];
static size_t log_length, log_read;
static uint64_t loads;
static int off, alone, wrong;
static unsigned chance(unsigned limit)
{
    return (unsigned)rand() % limit;
}

/* The part of an access that is in a region; NULL: none. */
static struct area *part_in(int i, uintptr_t at, size_t size, uintptr_t *from, size_t *length)
{
    uintptr_t begin = (uintptr_t)areas[i].at, end = begin + SIZE;
    *from = at > begin ? at : begin;
    uintptr_t until = at + size < end ? at + size : end;
    *length = until > *from ? until - *from : 0;
    return areas[i].is_region && *length > 0 ? &areas[i] : NULL;
}

static void load_part(struct area *area, uintptr_t at, uint8_t *value, size_t size)
{
    uint64_t number = ++loads;
    uint8_t *shadow = area->shadow + (at - (uintptr_t)area->at);
    if (alone) {
        if (log_read == log_length || log[log_read].number != number) {
            memcpy(value, (void *)at, size);
            return;
        }
        struct told *told = &log[log_read++];
        wrong |= told->at != at || told->size != size;
        memcpy(value, told->bytes, told->size == size ? size : 0);
        memcpy((void *)at, value, size);
    } else if (memcmp(shadow, value, size) != 0) {
        memcpy(shadow, value, size);
        if (log_length == sizeof log / sizeof *log || size > LONGEST)
            abort();
        log[log_length] = (struct told){number, at, size, {0}};
        memcpy(log[log_length++].bytes, value, size);
    }
}

static void load(const void *at, void *value, size_t size)
{
    uintptr_t from;
    size_t length;
    for (int i = 0; i < AREAS; i++) {
        struct area *area = part_in(i, (uintptr_t)at, size, &from, &length);
        if (area)
            load_part(area, from, (uint8_t *)value + (from - (uintptr_t)at), length);
    }
}

static void store(const void *at, const void *value, size_t size)
{
    uintptr_t from;
    size_t length;
    for (int i = 0; i < AREAS && !alone; i++) {
        struct area *area = part_in(i, (uintptr_t)at, size, &from, &length);
        if (area)
            memcpy(area->shadow + (from - (uintptr_t)area->at),
                   (const uint8_t *)value + (from - (uintptr_t)at), length);
    }
}

/* In pieces, since so long a load is not kept: a copy counts as so many, both times. */
static void copy(void *to, const void *from, size_t size)
{
    uint8_t *bytes = malloc(size);
    memcpy(bytes, from, size);
    for (size_t at = 0; at < size; at += LONGEST)
        load((const uint8_t *)from + at, bytes + at, size - at < LONGEST ? size - at : LONGEST);
    memcpy(to, bytes, size);
    store(to, bytes, size);
    free(bytes);
}

static void fill(void *to, int byte, size_t size)
{
    memset(to, byte, size);
    for (size_t i = 0; i < size; i++)
        store((uint8_t *)to + i, &(uint8_t){(uint8_t)byte}, 1);
}

static void name_regions(void)
{
    int regions = 0;
    memset(reprise_track.slot, 0, sizeof reprise_track.slot);
    memset(reprise_track.region, 0, sizeof reprise_track.region);
    for (int i = 0; i < AREAS; i++) {
        uintptr_t at = (uintptr_t)areas[i].at;
        if (!areas[i].is_region)
            continue;
        uint8_t number = alone ? REPRISE_TRACK_SEVERAL : (uint8_t)++regions;
        if (!alone)
            reprise_track.region[number] =
                (struct reprise_region){.at = at,
                                        .begins_8 = SIZE - 7,
                                        .begins_16 = SIZE - 15,
                                        .to_shadow = (intptr_t)((uintptr_t)areas[i].shadow - at),
                                        .size = SIZE};
        for (uintptr_t page = (at - REPRISE_TRACK_WIDEST + 1) / PAGE;
             page <= (at + SIZE - 1) / PAGE; page++)
            reprise_track.slot[page % REPRISE_TRACK_SLOTS] = number;
    }
    reprise_track.any = 1;
    reprise_track.lowest = (uintptr_t)areas[1].at;
    reprise_track.highest = (uintptr_t)areas[5].at + SIZE;
}

static void begin(int is_alone)
{
    alone = is_alone;
    loads = 0;
    name_regions();
    for (int i = 0; i < AREAS; i++)
        memset((uint8_t *)((uintptr_t)areas[i].at / PAGE * PAGE) - PAGE, 0, 3 * PAGE);
    for (int i = 0; i < AREAS; i++) {
        memcpy(areas[i].at, areas[i].first, SIZE);
        memcpy(areas[i].shadow, areas[i].first, SIZE);
    }
}

/* The other rank: at work while `goes`. */
static atomic_int goes, rests;
static void *other(void *unused)
{
    for (unsigned s = 1;; s = s * 1664525 + 1013904223) {
        if (!goes) {
            rests = 1;
            while (!goes)
                sched_yield();
            rests = 0;
        }
        ((volatile uint8_t *)areas[(s >> 8) % 3 * 2 + 1].at)[(s >> 12) % SIZE] = (s >> 4) & 63;
    }
    return unused;
}

static void wait_for(atomic_int *what, int value)
{
    while (*what != value)
        sched_yield();
}

static void *anywhere(void)
{
    static const int usual[] = {1, 1, 3, 4, 0};
    uint8_t *at = areas[chance(4) ? usual[chance(5)] : (int)chance(AREAS)].at;
    return at + 8 * (chance(4) ? 64 : chance(250)) - (chance(8) ? 0 : 64 * 8 + 16);
}

static int try(int f)
{
    for (int i = 0; i < AREAS; i++)
        for (int j = 0; j < SIZE; j++)
            areas[i].first[j] = (uint8_t)chance(64);
    void *a = anywhere(), *b = anywhere(), *c = anywhere();
    int n = (int)(chance(3) ? chance(60) : chance(5)), m = (int)chance(12);
    begin(0);
    log_length = log_read = 0;
    wrong = 0;
    for (int i = (int)chance(3) * 100; i > 0; i--)
        areas[chance(3) * 2 + 1].at[chance(SIZE)] = (uint8_t)chance(64);
    wait_for(&rests, 1);
    if (chance(4) == 0) {
        goes = 1;
        wait_for(&rests, 0);
    }
    unsigned long result = all[f](a, b, c, n, m);
    goes = 0;
    wait_for(&rests, 1);
    uint64_t made = loads;
    for (int i = 0; i < AREAS; i++)
        memcpy(areas[i].last, areas[i].is_region ? areas[i].shadow : areas[i].at, SIZE);
    begin(1);
    wrong |= all[f](a, b, c, n, m) != result || loads != made || log_read != log_length;
    for (int i = 0; i < AREAS; i++)
        wrong |= memcmp(areas[i].last, areas[i].at, SIZE) != 0;
    if (wrong)
        printf("function f%d, n %d, m %d: %llu loads, alone %llu; %zu were to be told, %zu were\n",
               f, n, m, (unsigned long long)made, (unsigned long long)loads, log_length, log_read);
    return wrong;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    size_t told = 0;
    int failed = 0;
    srand((unsigned)atoi(argv[argc - 1]));
    for (int i = 0; i < AREAS; i++)
        if (mmap((uint8_t *)((uintptr_t)areas[i].at / PAGE * PAGE) - AROUND, 3 * AROUND,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) == MAP_FAILED)
            return 1;
    reprise_track.loads = &loads;
    reprise_track.load = load;
    reprise_track.store = store;
    reprise_track.copy = copy;
    reprise_track.fill = fill;
    reprise_track_off = &off;
    pthread_create(&thread, NULL, other, NULL);
    for (int f = 0; f < count; f++)
        for (int i = 0; i < TRIALS; i++, told += log_length)
            failed += try(f);
    printf("%d functions, %zu loads gave something else\n", count, told);
    return failed > 0 || told == 0;
}
