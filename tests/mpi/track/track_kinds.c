/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 60
// options: -D_FORTIFY_SOURCE=2
// about: all kinds of loads and stores of window memory that another rank writes into meanwhile:
//     sizes, vectors, structures, bit-fields, copies and fills (those that compare lengths), atomic
//     operations; messages into it, of types with holes too; two windows of one memory; attached
//     memory
#include "check.h"

enum { WORDS = 512, ROUNDS = 30 };

struct mixed {
    char c;
    short s;
    int i;
    float f;
    double d;
    long double l __attribute__((packed, aligned(8))); // as Open MPI aligns memory
    long more[20];
};

static long *mine, *theirs; // parts of a shared window: each rank disturbs the other's

static void disturb(int round)
{
    for (int i = 0; i < WORDS; i++)
        if (i % 3 == round % 3)
            theirs[i] = (long)(check_mix((uint64_t)(i + 1000 * round)) &
                               0x3fff3fff3fff3fff); // no floating-point number is not one
}

__attribute__((noinline)) static long sum_of(const long *words, int count)
{
    long sum = 0;

    for (int i = 0; i < count; i++)
        sum += words[i];
    return sum;
}

__attribute__((noinline)) static void add_to(long *words, const long *more, int count)
{
    for (int i = 0; i < count; i++)
        words[i] = more[i] + 1;
}

static void note_bytes(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_note(((const unsigned char *)bytes)[i]);
}

static void sizes(void)
{
    volatile unsigned char *c = (volatile unsigned char *)mine;
    volatile short *s = (volatile short *)mine;
    volatile int *i = (volatile int *)mine;
    volatile float *f = (volatile float *)mine;
    volatile double *d = (volatile double *)mine;

    check_note(c[7] + s[9] + i[11]);
    check_note((long)(f[13] * 8));
    check_note((long)(d[15] * 8));
    c[7]++;
    s[9]++;
    i[11]++;
    f[13] += 0.5f;
    d[15] += 0.5;
}

static void structures(void)
{
    struct mixed *m = (struct mixed *)mine, copy = *m;

    note_bytes(&copy.c, 1);
    check_note(copy.s + copy.i);
    note_bytes(&copy.d, sizeof copy.d);
    note_bytes(copy.more, sizeof copy.more);
    copy.i = 5;
    m[1] = copy;
    m[1].l = 3;
    check_note((long)m[1].l);
}

struct fields {
    unsigned a : 1, b : 7, c : 12;
    int d : 5;
    unsigned long e : 40, f : 24;
    unsigned g : 1, h : 31;
};

typedef long wide __attribute__((vector_size(128), aligned(8)));

static void fields_and_vectors(int round)
{
    struct fields *f = (struct fields *)(mine + 60);
    wide sum = *(wide *)(mine + 30 + round) + *(wide *)(mine + 80);

    check_note(f->a + f->b * 2 + f->c * 3L + f->d * 5L);
    check_note((long)f->e + (long)f->f * 7 + f->g + f->h * 11L);
    f->e += 3;
    f->d--;
    note_bytes(&sum, sizeof sum);
    *(wide *)(mine + 130) = sum;
    check_note(mine[133] + mine[145]);
}

static void copies(int count)
{
    long own[WORDS];

    memcpy(own, mine, (size_t)count * sizeof *own);
    note_bytes(own, (size_t)count * sizeof *own);
    memmove(mine + 3, mine, (size_t)count / 2 * sizeof *own);
    memset(mine + 1, count, (size_t)count / 4 * sizeof *own);
    memcpy(mine + 40, own, 24);
    check_note(sum_of(mine, count));
    add_to(mine, own, count / 2);
    add_to(own, mine, count);
    check_note(sum_of(own, count));
}

static void atomics(void)
{
    long expected = mine[4];
    int small = 3;

    check_note(__atomic_fetch_add(&theirs[4], 1, __ATOMIC_SEQ_CST));
    check_note(__atomic_add_fetch(&mine[4], 5, __ATOMIC_SEQ_CST));
    check_note(__atomic_exchange_n(&mine[4], 77, __ATOMIC_SEQ_CST));
    check_note(__atomic_compare_exchange_n(&mine[4], &expected, 78, 0, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST));
    check_note(expected);
    check_note(__atomic_compare_exchange_n(&mine[4], &expected, 79, 1, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST));
    check_note(__atomic_fetch_or((int *)&mine[5], small, __ATOMIC_RELAXED));
    check_note(__atomic_fetch_xor((short *)&mine[5], 7, __ATOMIC_RELAXED));
    check_note(__atomic_load_n(&mine[4], __ATOMIC_ACQUIRE));
    __atomic_store_n(&mine[4], 80, __ATOMIC_RELEASE);
    check_note(mine[4]);
}

// Into window memory, by a dense type and by one with holes.
static void messages(int round)
{
    long own[64];
    MPI_Datatype holes;

    for (int i = 0; i < 64; i++)
        own[i] = 100 * round + i;
    MPI_Sendrecv(own, 64, MPI_LONG, 1 - check.rank, 0, mine + 10, 64, MPI_LONG, 1 - check.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_note(sum_of(mine, 80));
    MPI_Type_vector(16, 1, 3, MPI_LONG, &holes);
    MPI_Type_commit(&holes);
    MPI_Sendrecv(own, 16, MPI_LONG, 1 - check.rank, 0, mine + 100, 1, holes, 1 - check.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&holes);
    check_note(sum_of(mine + 90, 80));
    MPI_Allreduce(own, mine + 200, 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check_note(sum_of(mine + 200, 8));
}

static void shared(void)
{
    MPI_Win win;
    MPI_Aint size;
    int unit;

    MPI_Win_allocate_shared(WORDS * sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 1 - check.rank, &size, &unit, &theirs);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        disturb(round);
        sizes();
        structures();
        fields_and_vectors(round);
        disturb(round + 1);
        copies(WORDS - 8 - round);
        atomics();
        if (round % 5 == 0)
            messages(round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// Memory of the program's own: all of it in one window, a part in another, more of it attached.
static void own_memory(void)
{
    static long memory[2 * WORDS];
    long value = check.rank + 1, there;
    MPI_Win whole, part, loose;
    MPI_Aint address, other;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Win_create(memory, sizeof memory / 2, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &whole) != MPI_SUCCESS)
        return; // Open MPI, if there is no transport for it
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Win_create(memory + 8, 64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &part);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &loose);
    MPI_Win_attach(loose, memory + WORDS, sizeof memory / 2);
    MPI_Get_address(memory + WORDS, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, 1 - check.rank, 0, &other, 1, MPI_AINT, 1 - check.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int round = 0; round < 10; round++) {
        MPI_Win_fence(0, whole);
        memory[3] = round;
        MPI_Put(&value, 1, MPI_LONG, 1 - check.rank, 9, 1, MPI_LONG, whole);
        MPI_Win_fence(0, whole);
        check_note(memory[9] + memory[3]);
        MPI_Win_fence(0, part);
        MPI_Accumulate(&value, 1, MPI_LONG, 1 - check.rank, 1, 1, MPI_LONG, MPI_SUM, part);
        MPI_Win_fence(0, part);
        check_note(memory[9]);
        MPI_Win_fence(0, loose);
        MPI_Put(&memory[9], 1, MPI_LONG, 1 - check.rank, other + 8, 1, MPI_LONG, loose);
        MPI_Win_fence(0, loose);
        check_note(sum_of(memory, 2 * WORDS));
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - check.rank, 0, whole);
        MPI_Get(&there, 1, MPI_LONG, 1 - check.rank, 9, 1, MPI_LONG, whole);
        MPI_Win_unlock(1 - check.rank, whole);
        check_note(there);
        value += memory[WORDS + 1];
    }
    MPI_Win_detach(loose, memory + WORDS);
    MPI_Win_free(&loose);
    MPI_Win_free(&part);
    MPI_Win_free(&whole);
    check_note(sum_of(memory, 2 * WORDS));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    shared();
    own_memory();
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}
