/* SPDX-License-Identifier: MIT */
/* Each iteration reduces what has its own rules: pairs of a value and a place, bits, logical
 * values, complex numbers, operations of the program, with and without order, on datatypes with
 * gaps. Every result is computed here as well, in the order of ranks where order counts. */
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum { ITERATIONS = 10, COUNT = 3, MOST = 16 };

static int rank, size;
static unsigned long total;
static MPI_Op compose, largest;
static MPI_Datatype affine, spread;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "CHECK FAILED rank %d line %d: %s\n", rank, __LINE__, #condition);     \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

static int value_of(int who, long i)
{
    return (int)((who * 7 + i * 3) % 11);
}

/* The lowest place among equals. */
static int best(long i, bool most)
{
    int found = 0;

    for (int k = 1; k < size; k++)
        if (most ? value_of(k, i) > value_of(found, i) : value_of(k, i) < value_of(found, i))
            found = k;
    return found;
}

#define PAIR(TYPE, VALUE)                                                                          \
    do {                                                                                           \
        struct {                                                                                   \
            VALUE value;                                                                           \
            int place;                                                                             \
        } mine[COUNT], got[COUNT];                                                                 \
        for (int most = 0; most < 2; most++) {                                                     \
            memset(got, 0, sizeof got);                                                            \
            for (int k = 0; k < COUNT; k++) {                                                      \
                mine[k].value = (VALUE)value_of(rank, i + k);                                      \
                mine[k].place = rank;                                                              \
            }                                                                                      \
            MPI_Allreduce(mine, got, COUNT, TYPE, most ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD); \
            for (int k = 0; k < COUNT; k++)                                                        \
                CHECK(got[k].place == best(i + k, most) &&                                         \
                      got[k].value == (VALUE)value_of(got[k].place, i + k));                       \
            total = total * 31 + (unsigned long)got[0].place;                                      \
            MPI_Request request;                                                                   \
            memset(got, 0, sizeof got);                                                            \
            MPI_Ireduce(mine, got, COUNT, TYPE, most ? MPI_MAXLOC : MPI_MINLOC, 1, MPI_COMM_WORLD, \
                        &request);                                                                 \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                 \
            for (int k = 0; k < COUNT && rank == 1; k++)                                           \
                CHECK(got[k].place == best(i + k, most));                                          \
        }                                                                                          \
    } while (0)

static void pairs(long i)
{
    PAIR(MPI_FLOAT_INT, float);
    PAIR(MPI_DOUBLE_INT, double);
    PAIR(MPI_LONG_INT, long);
    PAIR(MPI_2INT, int);
    PAIR(MPI_SHORT_INT, short);
    PAIR(MPI_LONG_DOUBLE_INT, long double);
}

static void bits(long i)
{
    unsigned mine = (unsigned)value_of(rank, i) * 0x01010101u, all = ~0u, any = 0, odd = 0, got;
    bool flag = value_of(rank, i) % 2, every = true, some = false, uneven = false, said;

    for (int k = 0; k < size; k++) {
        unsigned theirs = (unsigned)value_of(k, i) * 0x01010101u;
        all &= theirs;
        any |= theirs;
        odd ^= theirs;
        every &= value_of(k, i) % 2;
        some |= value_of(k, i) % 2;
        uneven ^= value_of(k, i) % 2;
    }
    MPI_Allreduce(&mine, &got, 1, MPI_UNSIGNED, MPI_BAND, MPI_COMM_WORLD);
    CHECK(got == all);
    MPI_Allreduce(&mine, &got, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
    CHECK(got == any);
    got = mine;
    MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_UNSIGNED, MPI_BXOR, MPI_COMM_WORLD);
    CHECK(got == odd);
    MPI_Allreduce(&flag, &said, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    CHECK(said == every);
    MPI_Allreduce(&flag, &said, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    CHECK(said == some);
    MPI_Allreduce(&flag, &said, 1, MPI_C_BOOL, MPI_LXOR, MPI_COMM_WORLD);
    CHECK(said == uneven);
    total = total * 31 + odd;
}

static void complexes(long i)
{
    double complex mine = value_of(rank, i) + I * rank, sum = 0, got;
    float complex small = 1 + (rank % 2) * I, product = 1, made;

    for (int k = 0; k < size; k++) {
        sum += value_of(k, i) + I * k;
        product *= 1 + (k % 2) * I;
    }
    MPI_Allreduce(&mine, &got, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    CHECK(got == sum);
    MPI_Allreduce(&small, &made, 1, MPI_C_FLOAT_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
    CHECK(made == product);
    total = total * 31 + (unsigned long)creal(got);
}

/* x -> a x + b, modulo a prime: it does not commute. With a gap between the two, and one behind. */
struct function {
    int a;
    char gap[12];
    int b;
    char behind[4];
};

static const int prime = 10007;

static struct function after(struct function first, struct function second)
{
    return (struct function){.a = first.a * second.a % prime,
                             .b = (second.a * first.b + second.b) % prime};
}

static void compose_all(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct function *first = in, *second = inout;

    (void)type;
    for (int k = 0; k < *length; k++) {
        struct function both = after(first[k], second[k]);
        second[k].a = both.a;
        second[k].b = both.b;
    }
}

static struct function function_of(int who, long i)
{
    return (struct function){.a = value_of(who, i) + 2, .b = value_of(who, i + 5) + who};
}

static struct function chain(int from, int to, long i)
{
    struct function all = function_of(from, i);

    for (int k = from + 1; k < to; k++)
        all = after(all, function_of(k, i));
    return all;
}

static bool same(struct function one, struct function other)
{
    return one.a == other.a && one.b == other.b;
}

static void functions(long i)
{
    struct function mine[MOST], got[MOST];

    for (int k = 0; k < size; k++) {
        mine[k] = function_of(rank, i + k);
        memset(&got[k], 0x55, sizeof got[k]);
    }
    MPI_Allreduce(mine, got, 2, affine, compose, MPI_COMM_WORLD);
    CHECK(same(got[0], chain(0, size, i)) && same(got[1], chain(0, size, i + 1)));
    CHECK(got[0].gap[3] == 0x55 && got[1].behind[1] == 0x55 && got[2].a == 0x55555555);
    MPI_Reduce(mine, got, 1, affine, compose, size - 1, MPI_COMM_WORLD);
    CHECK(rank != size - 1 || same(got[0], chain(0, size, i)));
    MPI_Scan(mine, got, 1, affine, compose, MPI_COMM_WORLD);
    CHECK(same(got[0], chain(0, rank + 1, i)));
    MPI_Exscan(mine, got, 1, affine, compose, MPI_COMM_WORLD);
    CHECK(rank == 0 || same(got[0], chain(0, rank, i)));
    MPI_Reduce_scatter_block(mine, got, 1, affine, compose, MPI_COMM_WORLD);
    CHECK(same(got[0], chain(0, size, i + rank)));
    total = total * 31 + (unsigned long)got[0].b;
}

/* The larger of each; every third of a row. */
static void take_largest(void *in, void *inout, int *length, MPI_Datatype *type)
{
    MPI_Aint lower, extent;

    MPI_Type_get_extent(*type, &lower, &extent);
    for (int k = 0; k < *length; k++)
        for (int j = 0; j < COUNT; j++) {
            const int *theirs = (const int *)((const char *)in + k * extent) + 3 * j;
            int *ours = (int *)((char *)inout + k * extent) + 3 * j;
            if (*theirs > *ours)
                *ours = *theirs;
        }
}

static void rows(long i)
{
    int mine[3 * COUNT], got[3 * COUNT];
    MPI_Op passing;
    MPI_Request request;

    for (int k = 0; k < 3 * COUNT; k++) {
        mine[k] = value_of(rank, i + k);
        got[k] = -1;
    }
    MPI_Allreduce(mine, got, 1, spread, largest, MPI_COMM_WORLD);
    for (int k = 0; k < 3 * COUNT; k++)
        CHECK(got[k] == (k % 3 ? -1 : value_of(best(i + k, true), i + k)));
    MPI_Op_create(take_largest, 1, &passing);
    memset(got, -1, sizeof got);
    MPI_Iallreduce(mine, got, 1, spread, passing, MPI_COMM_WORLD, &request);
    MPI_Op_free(&passing);
    CHECK(passing == MPI_OP_NULL);
    MPI_Op_create(compose_all, 0, &passing); /* where the freed one may have been */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&passing);
    for (int k = 0; k < 3 * COUNT; k++)
        CHECK(got[k] == (k % 3 ? -1 : value_of(best(i + k, true), i + k)));
    total = total * 31 + (unsigned long)got[0];
}

static void make_types(void)
{
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {offsetof(struct function, a), offsetof(struct function, b)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, bare;

    MPI_Type_create_struct(2, lengths, places, types, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct function), &affine);
    MPI_Type_free(&bare);
    MPI_Type_commit(&affine);
    MPI_Type_vector(COUNT, 1, 3, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Op_create(compose_all, 0, &compose);
    MPI_Op_create(take_largest, 1, &largest);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_types();
    reprise_protect(0, &total, sizeof total);
    REPRISE_LOOP(i, 0, ITERATIONS)
    {
        pairs(i);
        bits(i);
        complexes(i);
        functions(i);
        rows(i);
    }
    unsigned long all;
    MPI_Allreduce(&total, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT %lu\n", all);
    MPI_Finalize();
    return 0;
}
