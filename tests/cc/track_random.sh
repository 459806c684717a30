# SPDX-License-Identifier: MIT
# Tracked code: random functions with loops over memory that is in windows, near them, between them, or far from them, while a thread stores into the windows. What they load is recorded, by a small recorder of this test, and they are run
# once more with what was recorded: alone. Results, the number of loads, what was to be told, and all memory must be the same.
source "$(dirname "$0")/../lib/cc.sh"
rounds=${TRACK_ROUNDS:-1} first=${TRACK_SEED:-1} # the functions are those of the seeds from the first on

cat >generate.c <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
enum { FUNCTIONS = 60 };
static const char *const types[] = {"signed char", "unsigned char", "short", "int", "unsigned", "long", "float", "double", "unsigned long"};
static const char *type_of[3]; /* of a, b, c */
static unsigned long state;
static unsigned chance(unsigned limit) { return (unsigned)((state = state * 6364136223846793005 + 1442695040888963407) >> 33) % limit; }
static void index_of(const char *v)
{
    switch (chance(12)) {
    case 0: case 1: printf("[%s+%u]", v, 1 + chance(3)); break;
    case 2: printf("[2*%s+%u]", v, chance(2)); break;
    case 3: printf("[%u]", chance(4)); break;
    case 4: printf("[m]"); break;
    case 5: printf("[60-%s]", v); break;
    default: printf("[%s]", v);
    }
}
static void element(const char *v) { putchar("abc"[chance(3)]); index_of(v); }
static void number(const char *v) { printf("(unsigned long)(long)"); element(v); }
static void take(const char *v)
{
    unsigned choice = chance(10);
    printf(choice < 5 ? "s=s*31+" : choice < 7 ? "s+=3*" : choice < 8 ? "s^=table[" : choice < 9 ? "s+=own[" : "s+=");
    number(v);
    printf(choice < 7 ? ";" : choice < 8 ? "&15];" : choice < 9 ? "&7];" : ">");
    if (choice == 9) { number(v); printf("?1:5;"); }
}
static void give(const char *v)
{
    unsigned which = chance(3);
    putchar("abc"[which]);
    index_of(v);
    printf("=(%s)(int)(63&(", type_of[which]);
    if (chance(4) == 0) printf("%u", chance(64));
    else { printf("(int)"); element(v); printf("^(int)"); element(v); }
    printf("));");
}
static void statement(const char *v)
{
    switch (chance(13)) {
    case 12: printf("if("); element(v); printf(">20)s+="); number(v); printf(";"); break;
    case 0: printf("if((%s^m)&1){", v); take(v); printf("}"); break;
    case 1: printf("if((int)"); element(v); printf("&1){"); give(v); printf("}else t+=%s;", v); break;
    case 2: printf("own[(unsigned)(int)"); element(v); printf("&7]++;"); break;
    case 3: printf("t=(long)"); element(v); printf(";"); break;
    case 4: printf("if(%s>=n-2){", v); take(v); printf("}"); break;
    case 5: case 6: case 7: give(v); break;
    default: take(v);
    }
}
static void loop(const char *v)
{
    static const char *const heads[] = {"for(int %s=0;%s<n;%s++)", "for(int %s=n-1;%s>=0;%s--)", "for(long %s=0;%s<n;%s+=3)", "for(unsigned %s=0;%s!=(unsigned)n;%s++)", "for(int %s=m;%s<n;%s+=2)", "for(int %s=1;%s<=n;%s++)", "for(short %s=0;%s<n;%s++)", "for(long %s=n;%s>m;%s-=2)", "for(unsigned char %s=0;%s<n;%s++)"};
    unsigned leaves = chance(20);
    printf(heads[chance(9)], v, v, v);
    printf("{");
    for (unsigned i = 0, count = 1 + chance(4); i < count; i++) statement(v);
    if (leaves < 2) printf("if(%s==m)break;", v);
    else if (leaves < 3) printf("if(%s>m+3){t+=7;break;}", v);
    else if (leaves < 4) printf("if(%s==m)goto out;", v);
    printf("}");
}
int main(int argc, char **argv)
{
    state = (unsigned long)atol(argv[argc - 1]);
    puts("static const unsigned long table[16]={3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3};");
    for (int f = 0; f < FUNCTIONS; f++) {
        type_of[0] = types[chance(9)];
        for (int i = 1; i < 3; i++) type_of[i] = chance(2) ? type_of[0] : types[chance(9)];
        const char *kind = chance(2) ? "" : "restrict";
        printf("static unsigned long f%d(%s*%s a,%s*%s b,%s*%s c,int n,int m){unsigned long s=0;long t=0;int own[8]={0};", f, type_of[0], kind, type_of[1], kind, type_of[2], kind);
        for (unsigned i = 0, count = 1 + chance(2); i < count; i++) {
            char v[16];
            snprintf(v, sizeof v, "i%u", i);
            if (chance(3) == 0) { printf("for(int o=0;o<3;o++){t+=o;"); loop(v); printf("a+=o;}"); } else loop(v);
        }
        puts("out:;for(int i=0;i<8;i++)s+=(unsigned long)own[i]*i;return s*7+t;}");
    }
    /* Vectors of which some elements are accessed, where there are such. */
    printf("static unsigned long f%d(int*restrict a,int*restrict b,int*restrict c,int n,int m){long t=m;for(int i=0;i<n;i++)if(a[i]>20)t+=b[i];for(int i=0;i<n;i++)if(a[i]>30)c[i]=b[i];return t;}\n", FUNCTIONS);
    printf("unsigned long (*all[])(void*,void*,void*,int,int)={");
    for (int f = 0; f <= FUNCTIONS; f++) printf("(void*)f%d,", f);
    printf("};int count=%d;\n", FUNCTIONS + 1);
    return 0;
}
END
cat >runtime.c <<'END'
/* Never tracked itself. Three regions, among them one that is in the page of nothing else's end, and three areas that are none, of which one is between regions. */
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
struct area { uint8_t *at; int is_region; uint8_t shadow[SIZE], first[SIZE], last[SIZE]; };
struct told { uint64_t number; uintptr_t at; size_t size; uint8_t bytes[LONGEST]; };
static struct area areas[AREAS] = {{.at = (uint8_t *)0x100000000}, {.at = (uint8_t *)0x200000400, .is_region = 1}, {.at = (uint8_t *)0x200100000}, {.at = (uint8_t *)0x200200000, .is_region = 1}, {.at = (uint8_t *)0x300000000}, {.at = (uint8_t *)0x200300ff8, .is_region = 1}};
static struct told log[1 << 14];
static size_t log_length, log_read;
static uint64_t loads;
static int off, alone, wrong;
static unsigned chance(unsigned limit) { return (unsigned)rand() % limit; }
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
        if (log_length == sizeof log / sizeof *log || size > LONGEST) abort();
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
        if (area) load_part(area, from, (uint8_t *)value + (from - (uintptr_t)at), length);
    }
}
static void store(const void *at, const void *value, size_t size)
{
    uintptr_t from;
    size_t length;
    for (int i = 0; i < AREAS && !alone; i++) {
        struct area *area = part_in(i, (uintptr_t)at, size, &from, &length);
        if (area) memcpy(area->shadow + (from - (uintptr_t)area->at), (const uint8_t *)value + (from - (uintptr_t)at), length);
    }
}
/* In pieces, since so long a load is not kept: a copy counts as so many, both times. */
static void copy(void *to, const void *from, size_t size)
{
    uint8_t *bytes = malloc(size);
    memcpy(bytes, from, size);
    for (size_t at = 0; at < size; at += LONGEST) load((const uint8_t *)from + at, bytes + at, size - at < LONGEST ? size - at : LONGEST);
    memcpy(to, bytes, size);
    store(to, bytes, size);
    free(bytes);
}
static void fill(void *to, int byte, size_t size)
{
    memset(to, byte, size);
    for (size_t i = 0; i < size; i++) store((uint8_t *)to + i, &(uint8_t){(uint8_t)byte}, 1);
}
static void name_regions(void)
{
    int regions = 0;
    memset(reprise_track.slot, 0, sizeof reprise_track.slot);
    memset(reprise_track.region, 0, sizeof reprise_track.region);
    for (int i = 0; i < AREAS; i++) {
        uintptr_t at = (uintptr_t)areas[i].at;
        if (!areas[i].is_region) continue;
        uint8_t number = alone ? REPRISE_TRACK_SEVERAL : (uint8_t)++regions;
        if (!alone) reprise_track.region[number] = (struct reprise_region){.at = at, .begins_8 = SIZE - 7, .begins_16 = SIZE - 15, .to_shadow = (intptr_t)((uintptr_t)areas[i].shadow - at), .size = SIZE};
        for (uintptr_t page = (at - REPRISE_TRACK_WIDEST + 1) / PAGE; page <= (at + SIZE - 1) / PAGE; page++) reprise_track.slot[page % REPRISE_TRACK_SLOTS] = number;
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
    for (int i = 0; i < AREAS; i++) memset((uint8_t *)((uintptr_t)areas[i].at / PAGE * PAGE) - PAGE, 0, 3 * PAGE);
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
            while (!goes) sched_yield();
            rests = 0;
        }
        ((volatile uint8_t *)areas[(s >> 8) % 3 * 2 + 1].at)[(s >> 12) % SIZE] = (s >> 4) & 63;
    }
    return unused;
}
static void wait_for(atomic_int *what, int value) { while (*what != value) sched_yield(); }
static void *anywhere(void)
{
    static const int usual[] = {1, 1, 3, 4, 0};
    uint8_t *at = areas[chance(4) ? usual[chance(5)] : (int)chance(AREAS)].at;
    return at + 8 * (chance(4) ? 64 : chance(250)) - (chance(8) ? 0 : 64 * 8 + 16);
}
static int try(int f)
{
    for (int i = 0; i < AREAS; i++)
        for (int j = 0; j < SIZE; j++) areas[i].first[j] = (uint8_t)chance(64);
    void *a = anywhere(), *b = anywhere(), *c = anywhere();
    int n = (int)(chance(3) ? chance(60) : chance(5)), m = (int)chance(12);
    begin(0);
    log_length = log_read = 0;
    wrong = 0;
    for (int i = (int)chance(3) * 100; i > 0; i--) areas[chance(3) * 2 + 1].at[chance(SIZE)] = (uint8_t)chance(64);
    wait_for(&rests, 1);
    if (chance(4) == 0) {
        goes = 1;
        wait_for(&rests, 0);
    }
    unsigned long result = all[f](a, b, c, n, m);
    goes = 0;
    wait_for(&rests, 1);
    uint64_t made = loads;
    for (int i = 0; i < AREAS; i++) memcpy(areas[i].last, areas[i].is_region ? areas[i].shadow : areas[i].at, SIZE);
    begin(1);
    wrong |= all[f](a, b, c, n, m) != result || loads != made || log_read != log_length;
    for (int i = 0; i < AREAS; i++) wrong |= memcmp(areas[i].last, areas[i].at, SIZE) != 0;
    if (wrong) printf("function f%d, n %d, m %d: %llu loads, alone %llu; %zu were to be told, %zu were\n", f, n, m, (unsigned long long)made, (unsigned long long)loads, log_length, log_read);
    return wrong;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    size_t told = 0;
    int failed = 0;
    srand((unsigned)atoi(argv[argc - 1]));
    for (int i = 0; i < AREAS; i++)
        if (mmap((uint8_t *)((uintptr_t)areas[i].at / PAGE * PAGE) - AROUND, 3 * AROUND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return 1;
    reprise_track.loads = &loads;
    reprise_track.load = load;
    reprise_track.store = store;
    reprise_track.copy = copy;
    reprise_track.fill = fill;
    reprise_track_off = &off;
    pthread_create(&thread, NULL, other, NULL);
    for (int f = 0; f < count; f++)
        for (int i = 0; i < TRIALS; i++, told += log_length) failed += try(f);
    printf("%d functions, %zu loads gave something else\n", count, told);
    return failed > 0 || told == 0;
}
END
gcc -O1 -Wall -o generate generate.c || fail "generate.c does not compile"
gcc -O2 -Wall -I "$(dirname "${BASH_SOURCE[0]}")/../../src" -c runtime.c || fail "runtime.c does not compile"
wide= widest=
[ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo && wide=-mavx2
[ -n "$wide" ] && grep -qw avx512vl /proc/cpuinfo && grep -qw avx512bw /proc/cpuinfo && grep -qw avx512dq /proc/cpuinfo && widest="-mavx512f -mavx512vl -mavx512bw -mavx512dq -mprefer-vector-width=512"
try() { # COMPILER SEED OPTION...
    ./generate "$2" >functions.c
    REPRISE_CC=$1 good 100 build reprise-cc --track=plugin -w "${@:3}" functions.c runtime.o -pthread -o functions
    run 100 functions ./functions "$2"
    [ "$status" -eq 0 ] || fail "$1 ${*:3}, functions of seed $2: status $status: $(head -n 3 functions.out)"
}
tried=0
for compiler in clang gcc; do
    version=$("$compiler" -dumpversion 2>/dev/null | cut -d. -f1)
    [ -e "$plugins/reprise-track-$([ "$compiler" = clang ] && echo llvm || echo gcc)-$version.so" ] || continue
    for ((round = 0; round < rounds; round++)); do
        seed=$((first + 3 * round))
        try "$compiler" "$seed" -O2
        try "$compiler" "$((seed + 1))" -O3 $wide
        [ -z "$widest" ] || try "$compiler" "$((seed + 1))" -O3 $widest
        try "$compiler" "$((seed + 2))" -O1
        tried=$((tried + 1))
    done
    echo "$compiler: $(tail -n 1 functions.out)"
done
[ "$tried" -gt 0 ] || { echo "skipped: no plugin"; exit 77; }
