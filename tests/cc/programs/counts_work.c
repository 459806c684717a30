/* SPDX-License-Identifier: MIT */
/* Loops, recursion, jumps, threads and callbacks; tells the ticks that each takes. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t ticks_now(void);
static volatile int sink;
static long recurse(int n)
{
    return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

static int even(unsigned n);
__attribute__((noinline)) static int odd(unsigned n)
{
    return n == 0 ? 0 : even(n - 1) + (int)(n & sink);
}

__attribute__((noinline)) static int even(unsigned n)
{
    return n == 0 ? 1 : odd(n - 1) + (int)(n & sink);
}

__attribute__((noinline, pure)) static int search(const char *text, char what)
{
    const char *at = text;
    while (*at && *at != what)
        at++;
    return (int)(at - text);
}

__attribute__((noinline)) static void nest(int n, double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < 3; k++)
                a[j] += a[i] * k;
}

static int jumps(int n)
{
    static jmp_buf where;
    volatile int times = 0;
    if (setjmp(where) < n) {
        times++;
        longjmp(where, times);
    }
    return times;
}

static int machine(int n) /* computed jumps: no loop that a compiler would call one */
{
    static const void *const next[] = {&&one, &&two, &&done};
    int at = 0;
one:
    at++;
    goto *next[at >= n ? 2 : at % 2];
two:
    at += 2;
    goto *next[at >= n ? 2 : at % 2];
done:
    return at;
}

static int tangled(int n, int from)
{
    int at = 0;
    if (from)
        goto inside;
outside:
    at += 3;
inside:
    at += 1;
    if (at < n) {
        if (at & 1)
            goto outside;
        goto inside;
    }
    return at;
}

__attribute__((noinline)) static void copy(int n, char *to, const char *from)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
} /* becomes memcpy */
static uint64_t last;
static int backwards;
static int compare(const void *a, const void *b)
{
    int n = 0;
    for (const char *at = "some steps"; *at; at++)
        n += *at & sink;
    backwards |= ticks_now() < last;
    last = ticks_now();
    return *(const int *)a - *(const int *)b + (n < 0);
}

__attribute__((noinline)) static int sorts(int n)
{
    int some[8] = {3, 1, 4, 1, 5, 9, 2, 6}, all = n;
    while (n) {
        qsort(some, 8, sizeof *some, compare);
        some[n & 7] ^= 5;
        n -= 1 + (some[0] > 100);
    }
    return some[all & 7];
}

static void *thread(void *n)
{
    uint64_t before = ticks_now();
    sink += (int)recurse(*(int *)n);
    uint64_t *result = malloc(sizeof *result);
    *result = ticks_now() - before;
    return result;
}

#define COUNT(name, code)                                                                          \
    do {                                                                                           \
        uint64_t before = ticks_now();                                                             \
        code;                                                                                      \
        printf("%s %llu\n", name, (unsigned long long)(ticks_now() - before));                     \
    } while (0)
int main(int argc, char **argv)
{
    int n = atoi(argv[argc - 1]);
    double *a = calloc((size_t)n + 1, sizeof *a);
    char *text = calloc((size_t)n * 50 + 1, 1);
    memset(text, 'a', (size_t)n * 50);
    COUNT("recursion", sink += (int)recurse(10 + n / 10));
    COUNT("mutual", sink += even((unsigned)n * 20));
    COUNT("search", sink += search(text, 'b'));
    COUNT("nest", nest(n, a));
    COUNT("jumps", sink += jumps(n));
    COUNT("machine", sink += machine(n * 10));
    COUNT("tangled", sink += tangled(n * 10, n & 1));
    char *other = malloc((size_t)n * 50 + 1);
    COUNT("copy", copy(n * 50, other, text); sink += other[n]);
    COUNT("copies", for (int i = 0; i < n; i++) memmove(other, text, (size_t)n * 5 + (size_t)i));
    COUNT("sorts", sink += sorts(n));
    if (backwards)
        return 1;
    int m = 15;
    void *counted[4];
    uint64_t before = ticks_now();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, &m);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], &counted[i]);
    printf("main-thread %llu\n", (unsigned long long)(ticks_now() - before));
    for (int i = 0; i < 4; i++)
        printf("thread-%d %llu\n", i, (unsigned long long)*(uint64_t *)counted[i]);
    return 0;
}
