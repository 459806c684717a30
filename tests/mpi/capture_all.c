/* SPDX-License-Identifier: MIT */
// ranks: 2
// det: differs
// native: differs
// record: --capture all
// also: solo
// about: clocks, random bytes, process ids and names from outside, before MPI_Init and after,
//     decide how often the program polls and what it sends
#include "check.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

static void note_bytes(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        check_note(((const unsigned char *)bytes)[i]);
}

static void note_clocks(void)
{
    struct timespec t;
    struct timeval v;

    for (clockid_t clock = CLOCK_REALTIME; clock <= CLOCK_THREAD_CPUTIME_ID; clock++) {
        clock_gettime(clock, &t);
        check_note((long)t.tv_sec);
        check_note(t.tv_nsec);
    }
    gettimeofday(&v, NULL);
    check_note((long)v.tv_usec);
    check_note((long)time(NULL));
    check_note((long)clock());
}

// What the compiler calls with _FORTIFY_SOURCE.
ssize_t checked_read(int fd, void *buffer, size_t size, size_t room) __asm__("__read_chk");
size_t checked_fread(void *buffer, size_t room, size_t size, size_t count,
                     FILE *file) __asm__("__fread_chk");

static void note_random(void)
{
    unsigned char bytes[37];
    int fd = open("/dev/urandom", O_RDONLY);
    FILE *file = fopen("/dev/urandom", "r");

    CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "getrandom");
    note_bytes(bytes, sizeof bytes);
    CHECK(getentropy(bytes, 5) == 0, "getentropy");
    note_bytes(bytes, 5);
    CHECK(read(fd, bytes, 9) == 9, "read");
    note_bytes(bytes, 9);
    CHECK(file && fread(bytes, 3, 4, file) == 4, "fread");
    note_bytes(bytes, 12);
    CHECK(pread(fd, bytes, 10, 3) == 10, "pread");
    note_bytes(bytes, 10);
    CHECK(readv(fd, (struct iovec[]){{bytes, 9}, {bytes + 9, 20}}, 2) == 29, "readv");
    note_bytes(bytes, 29);
    CHECK(checked_read(fd, bytes, 13, sizeof bytes) == 13 &&
              checked_fread(bytes, sizeof bytes, 1, 7, file) == 7,
          "with sizes checked");
    note_bytes(bytes, 13);
    close(fd);
    fclose(file);
}

static void note_names(void)
{
    char name[64];
    struct utsname about;

    CHECK(gethostname(name, sizeof name) == 0 && uname(&about) == 0, "names");
    CHECK(strcmp(name, about.nodename) == 0, "%s, not %s", name, about.nodename);
    note_bytes(name, strlen(name));
    check_note(getpid());
    check_note(getppid());
}

/* How many polls: until a moment, or until a message. */
static void poll_for_a_while(void)
{
    double start = MPI_Wtime();
    long value = -1, polls = 0;
    int flag = 0;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    while (!flag && MPI_Wtime() - start < 0.02) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        polls++;
    }
    check_note(polls);
    check_note(flag);
    if (!flag)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_note(value);
}

int main(int argc, char **argv)
{
    srand((unsigned)time(NULL) ^ (unsigned)getpid() << 8);
    int early = rand();

    check_start(&argc, &argv);
    check_note(early);
    note_clocks();
    note_random();
    note_names();
    for (int step = 0; step < 3; step++) {
        if (check.rank == 0) {
            poll_for_a_while();
        } else {
            long value = rand();
            check_pace(step);
            MPI_Send(&value, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
        }
    }
    return check_end();
}
