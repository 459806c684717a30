/* SPDX-License-Identifier: MIT */
/* Intrinsics and atomics that can be tracked, though others of their kind cannot. */
#if defined __x86_64__
#include <x86intrin.h>

unsigned long long clock_of(void *at)
{
    unsigned from;
    unsigned long long sum;
    _mm_clflush(at);
    _mm_pause();
    _mm_sfence();
    _addcarry_u64(0, 1, __rdtscp(&from), &sum);
    return sum + __rdtsc();
}

void stream(long long *at, long long value)
{
    _mm_stream_si64(at, value);
}
#endif
__attribute__((const)) static double twice(double x)
{
    return 2 * x;
}

struct pair {
    int first, second;
};

void load_pair(struct pair *at, struct pair *to)
{
    __atomic_load(at, to, __ATOMIC_SEQ_CST);
}

void add(_Atomic double *at, double more)
{
    *at += more;
}

double use(const double *at)
{
    __builtin_prefetch(at);
    return twice(*at);
}
