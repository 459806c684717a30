/* SPDX-License-Identifier: MIT */
// What every program under tests/mpi shares.
//
// A program races messages on purpose and folds each outcome that it observes (source, tag, index,
// flag, payload, number of failed polls, ...) into an order-sensitive hash. Rank 0 prints `RESULT
// hash=...` at the end: two runs with equal lines observed the same outcomes on every rank. The
// environment forces the arrival order:
//   TEST_ORDER    up (default): rank r sleeps r paces before a send; down: size-1-r paces;
//   random:SEED: 0 to 3 paces TEST_PACE_MS  length of a pace in milliseconds (15) TEST_TRACE    if
//   set, each noted value also goes to stderr, to find the first one that differs
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The functions of MPI 4 but for those of large counts. Open MPI 5 has them and says that it is of
// MPI 3.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define CHECK_HAS_MPI_4 1
#else
#define CHECK_HAS_MPI_4 0
#endif

// MPI_STATUSES_IGNORE and MPI_UNWEIGHTED are made-up addresses, which gcc takes for arrays too
// small.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

enum check_order { CHECK_UP, CHECK_DOWN, CHECK_RANDOM };

struct check_state {
    MPI_Comm comm; // over which check_end gathers
    int rank;
    int size;
    enum check_order order;
    uint64_t seed;
    long pace_ms;
    int trace;
    long notes;
    uint64_t hash;
};

static struct check_state check;

// Correctness that must hold in any order.
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail(__FILE__, __LINE__, __VA_ARGS__);                                           \
    } while (0)

__attribute__((format(printf, 3, 4), noreturn)) static inline void
check_fail(const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "CHECK FAILED %d %s:%d: %s\n", check.rank, file, line, text);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static inline uint64_t check_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline void check_read_order(const char *text)
{
    check.order = CHECK_UP;
    if (text == NULL || strcmp(text, "up") == 0)
        return;
    if (strcmp(text, "down") == 0) {
        check.order = CHECK_DOWN;
    } else if (strncmp(text, "random:", 7) == 0) {
        check.order = CHECK_RANDOM;
        check.seed = strtoull(text + 7, NULL, 10);
    } else {
        check_fail(__FILE__, __LINE__, "TEST_ORDER=%s: expected up, down or random:SEED", text);
    }
}

// For a program that initialises MPI by itself: reads the environment, takes rank and size from
// comm, and starts the ranks together.
static inline void check_attach(MPI_Comm comm)
{
    const char *pace = getenv("TEST_PACE_MS");

    check.comm = comm;
    MPI_Comm_rank(comm, &check.rank);
    MPI_Comm_size(comm, &check.size);
    check_read_order(getenv("TEST_ORDER"));
    check.pace_ms = pace ? strtol(pace, NULL, 10) : 15;
    check.trace = getenv("TEST_TRACE") != NULL;
    MPI_Barrier(comm);
}

static inline void check_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    check_attach(MPI_COMM_WORLD);
}

// Returns the thread level that MPI provides.
static inline int check_start_thread(int *argc, char ***argv, int required)
{
    int provided = -1;

    MPI_Init_thread(argc, argv, required, &provided);
    check_attach(MPI_COMM_WORLD);
    return provided;
}

static inline void check_sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

// Between polls. A yield would cost a whole slice of time for each recorded no, while the other
// ranks spin in a barrier.
static inline void check_rest(void)
{
    nanosleep(&(struct timespec){0, 20000}, NULL);
}

// Sleeps before a send, so that the arrival order among ranks is forced: the order is what is
// tested.
static inline void check_pace(int step)
{
    uint64_t key = check.seed * 1000003u + (uint64_t)check.rank * 8191u + (uint64_t)step + 1;

    if (check.order == CHECK_UP)
        check_sleep_ms(check.rank * check.pace_ms);
    else if (check.order == CHECK_DOWN)
        check_sleep_ms((check.size - 1 - check.rank) * check.pace_ms);
    else
        check_sleep_ms((long)(check_mix(key) % (uint64_t)(3 * check.pace_ms + 1)));
}

// Folds an outcome into this rank's hash.
static inline void check_note(long value)
{
    check.hash = check_mix(check.hash * 31 + (uint64_t)value + 0x9e3779b97f4a7c15u);
    if (check.trace)
        fprintf(stderr, "NOTE %d %ld: %ld\n", check.rank, check.notes, value);
    check.notes++;
}

static inline int check_error_class(int error)
{
    int error_class = -1;

    MPI_Error_class(error, &error_class);
    return error_class;
}

static inline int check_bytes(const MPI_Status *status)
{
    int bytes = -1;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes;
}

// Source, tag and count in bytes of a receive that succeeded.
static inline void check_note_status(const MPI_Status *status)
{
    check_note(status->MPI_SOURCE);
    check_note(status->MPI_TAG);
    check_note(check_bytes(status));
}

// Source, tag and error class, where a multiple-completion call returned MPI_ERR_IN_STATUS. A
// failed receive's count is undefined, so only a successful one's is noted.
static inline void check_note_status_error(const MPI_Status *status)
{
    int error_class = check_error_class(status->MPI_ERROR);

    check_note(error_class);
    if (status->MPI_ERROR == MPI_ERR_PENDING)
        return;
    check_note(status->MPI_SOURCE);
    check_note(status->MPI_TAG);
    if (error_class == MPI_SUCCESS)
        check_note(check_bytes(status));
}

// The payload of most programs: tells who sent it, and which of the sender's messages it is.
static inline long check_value(int source, int step)
{
    return source * 1000000L + step;
}

static inline void check_send(int dest, int tag, int step, MPI_Comm comm)
{
    long value = check_value(check.rank, step);

    MPI_Send(&value, 1, MPI_LONG, dest, tag, comm);
}

static inline void check_send_paced(int dest, int tag, int step)
{
    check_pace(step);
    check_send(dest, tag, step, MPI_COMM_WORLD);
}

// A received check_value over MPI_COMM_WORLD: the status must agree with it.
static inline void check_note_message(long value, const MPI_Status *status)
{
    CHECK(value / 1000000 == status->MPI_SOURCE, "value %ld from source %d", value,
          status->MPI_SOURCE);
    CHECK(check_bytes(status) == (int)sizeof(long), "%d bytes", check_bytes(status));
    check_note(value);
    check_note_status(status);
}

// Gathers the hashes and prints the result; collective over check.comm.
static inline void check_report(void)
{
    unsigned long long mine = check.hash;
    unsigned long long *all = calloc((size_t)check.size, sizeof *all);
    uint64_t hash = 0;

    MPI_Gather(&mine, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, check.comm);
    for (int r = 0; r < check.size; r++)
        hash = check_mix(hash * 31 + all[r]);
    if (check.rank == 0)
        printf("RESULT hash=%016llx\n", (unsigned long long)hash);
    fflush(stdout);
    free(all);
}

static inline int check_end(void)
{
    check_report();
    MPI_Finalize();
    return 0;
}

// This rank's hash so far, for a program that ends without check_end. Calls no MPI function.
static inline void check_partial(void)
{
    printf("PARTIAL rank=%d hash=%016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
}

static inline int check_skip(void)
{
    if (check.rank == 0)
        puts("SKIP");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

#endif
