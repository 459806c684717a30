// SPDX-License-Identifier: MIT
// Kernels for the cost of counting executed code: usage: kernels NAME SCALE. Prints a checksum and
// the seconds that the kernel took.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void *array(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        exit(1);
    return memory;
}

// A five-point stencil on a grid that fits into the second cache.
__attribute__((noinline)) static void sweep(int n, const double *from, double *to)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] +
                                    from[i * n + j - 1] + from[i * n + j + 1]);
}

static double stencil(int scale)
{
    enum { n = 200 };
    double *a = array(n * n, sizeof *a), *b = array(n * n, sizeof *b);
    for (int i = 0; i < n; i++)
        a[i] = b[i] = 1;
    for (int step = 0; step < 20 * scale; step++) {
        sweep(n, a, b);
        sweep(n, b, a);
    }
    return a[3 * n + 50];
}

// Rows of 3 to 9 elements.
__attribute__((noinline)) static void multiply(int n, const int *start, const int *column,
                                               const double *value, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

static double spmv(int scale)
{
    enum { n = 4000 };
    int *start = array(n + 1, sizeof *start), *column = array(9 * n, sizeof *column);
    double *value = array(9 * n, sizeof *value), *x = array(n, sizeof *x), *y = array(n, sizeof *y);
    for (int i = 0; i < n; i++) {
        x[i] = 1;
        start[i + 1] = start[i] + 3 + (int)(next_random() % 7);
        for (int k = start[i]; k < start[i + 1]; k++) {
            column[k] = (int)(next_random() % n);
            value[k] = 1.0 / (start[i + 1] - start[i]);
        }
    }
    for (int step = 0; step < 50 * scale; step++) {
        multiply(n, start, column, value, x, y);
        multiply(n, start, column, value, y, x);
    }
    return x[17];
}

// Pairs of random numbers inside the unit circle, by rings, as in NPB EP.
static double ep(int scale)
{
    double rings[10] = {0}, sum = 0;
    for (int i = 0; i < 100000 * scale; i++) {
        double x = 2.0 * (next_random() >> 11) * 0x1p-53 - 1,
               y = 2.0 * (next_random() >> 11) * 0x1p-53 - 1, t = x * x + y * y;
        if (t > 1)
            continue;
        double factor = sqrt(-2 * log(t) / t);
        rings[(int)fmin(9, fmax(fabs(x * factor), fabs(y * factor)))]++;
        sum += x * factor + y * factor;
    }
    return sum + rings[0];
}

// Bucket counts and ranks of integer keys, as in NPB IS.
static double is(int scale)
{
    enum { n = 1 << 16, most = 1 << 11 };
    int *key = array(n, sizeof *key), *count = array(most, sizeof *count), sum = 0;
    for (int i = 0; i < n; i++)
        key[i] = (int)(next_random() % most);
    for (int round = 0; round < 10 * scale; round++) {
        key[round % n] = round % most;
        memset(count, 0, most * sizeof *count);
        for (int i = 0; i < n; i++)
            count[key[i]]++;
        for (int i = 1; i < most; i++)
            count[i] += count[i - 1];
        sum += count[most / 2];
    }
    return sum;
}

__attribute__((noinline)) static long fib_of(int n)
{
    return n < 2 ? n : fib_of(n - 1) + fib_of(n - 2);
}

static double fib(int scale)
{
    double sum = 0;
    for (int i = 0; i < scale; i++)
        sum += fib_of(25 + i % 2);
    return sum;
}

static int place_queens(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    int found = 0;
    if (columns == all)
        return 1;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & -free;
        found += place_queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

static double queens(int scale)
{
    double sum = 0;
    for (int i = 0; i < scale; i++)
        sum += place_queens((1u << (8 + i % 2)) - 1, 0, 0, 0);
    return sum;
}

// A search that ends where the data say: no count of iterations ahead.
__attribute__((noinline)) static int length_of_chain(const int *next, int from)
{
    int length = 0;
    for (int at = from; next[at] >= 0; at = next[at])
        length++;
    return length;
}

static double chain(int scale)
{
    enum { n = 4096 };
    int *next = array(n, sizeof *next);
    for (int i = 0; i < n; i++)
        next[i] = i + 7 < n ? i + 7 : -1;
    double sum = 0;
    for (int i = 0; i < 400 * scale; i++)
        sum += length_of_chain(next, i % 7);
    return sum;
}

// Insertion into binary trees: a recursion with memory behind it.
struct tree {
    struct tree *side[2];
    uint64_t key;
};

__attribute__((noinline)) static struct tree *plant(struct tree *at, struct tree *leaf)
{
    if (!at)
        return leaf;
    int side = leaf->key > at->key;
    at->side[side] = plant(at->side[side], leaf);
    return at;
}

__attribute__((noinline)) static int depth(const struct tree *at)
{
    if (!at)
        return 0;
    int left = depth(at->side[0]), right = depth(at->side[1]);
    return 1 + (left > right ? left : right);
}

static double trees(int scale)
{
    enum { n = 1000 };
    struct tree *leaves = array(n, sizeof *leaves);
    double sum = 0;
    for (int round = 0; round < 4 * scale; round++) {
        struct tree *root = NULL;
        for (int i = 0; i < n; i++) {
            leaves[i] = (struct tree){.key = next_random()};
            root = plant(root, &leaves[i]);
        }
        sum += depth(root);
    }
    return sum;
}

static const struct {
    const char *name;
    double (*run)(int scale);
} kernels[] = {{"stencil", stencil}, {"spmv", spmv}, {"ep", ep},         {"is", is},
               {"chain", chain},     {"fib", fib},   {"queens", queens}, {"trees", trees}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(kernels[i].name, argv[1]))
            continue;
        struct timespec begin, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        double sum = kernels[i].run(atoi(argv[2]));
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        printf("%s %.17g %.6f\n", argv[1], sum,
               (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
        return 0;
    }
    return 2;
}
