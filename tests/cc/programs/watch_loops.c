/* SPDX-License-Identifier: MIT */
/* A thread that ends, then a long loop without calls; tells the ticks in the end. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t ticks_now(void);
/* Where the chain ends nobody knows ahead. */
__attribute__((noinline)) static long walk(const int *next, int at, long steps)
{
    while (steps > 0) {
        at = next[at];
        steps -= at & 1;
    }
    return at;
}

static void *other(void *argument)
{
    static int next[2] = {1, 1};
    walk(next, 0, 1000);
    return argument;
}

int main(int argc, char **argv)
{
    int next[2] = {1, atoi(argv[argc - 1]) > 0};
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    long end = walk(next, 0, atol(argv[argc - 1]));
    printf("%llu %ld\n", (unsigned long long)ticks_now(), end);
    return 0;
}
