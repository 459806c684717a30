# SPDX-License-Identifier: MIT
# An assembler of sequences whose ranks are state machines that poll for messages from anyone. It seeds its random numbers by time and process, sends test messages to
# random ranks, and looks at the clock between messages: so its replay leaves the record. With a clock that counts calls, and fixed seeds, it replays.
packages=(ray gcc libc6-dev)
inputs() { random_reads 400 100 11 >reads.fasta; }
results() { cat out/Contigs.fasta out/ContigLengths.txt out/CoverageDistribution.txt; }

# DIRECTORY: a library to preload, for calls from Ray itself only; MPI keeps its clock.
make_clock() {
    cat >"$1/clock.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct timeval_like { long seconds, microseconds; };
static long calls;

static int from_ray(void *caller) {
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return 0;
    const char *slash = strrchr(info.dli_fname, '/');
    return strcmp(slash ? slash + 1 : info.dli_fname, "Ray") == 0;
}

void srand(unsigned seed) {
    (void)seed;
    ((void (*)(unsigned))dlsym(RTLD_NEXT, "srand"))(17);
}

int getpid(void) { return from_ray(__builtin_return_address(0)) ? 17 : (int)syscall(SYS_getpid); }

static struct timeval_like now(void *caller) {
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    if (!from_ray(caller))
        return (struct timeval_like){real.tv_sec, real.tv_nsec / 1000};
    calls++;
    return (struct timeval_like){1000000 + calls / 100000, calls % 100000 * 10};
}

time_t time(time_t *out) {
    time_t value = now(__builtin_return_address(0)).seconds;
    if (out)
        *out = value;
    return value;
}

int gettimeofday(void *out, void *zone) {
    (void)zone;
    *(struct timeval_like *)out = now(__builtin_return_address(0));
    return 0;
}
END
    gcc -w -fno-builtin -shared -fPIC -o "$1/clock.so" "$1/clock.c" -ldl
}

app() {
    limit=100
    make_clock "$base" || fail "no clock"
    LD_PRELOAD=$base/clock.so try 'ray with a clock that counts' openmpi 2 Ray -disable-network-test -k 21 -s reads.fasta -o out
    leaves='seeds and waits by the time'
    try ray openmpi 2 Ray -k 21 -s reads.fasta -o out
}
