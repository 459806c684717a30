/* SPDX-License-Identifier: MIT */
// Ends as its argument says: `global` by shmem_global_exit of the last PE, `status` by exit
// statuses, `crash` of PE 1.
#include "oshcheck.h"

static long counter;

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    osh_begin();
    osh_note((uint64_t)shmem_long_atomic_fetch_inc(&counter, 0));
    shmem_barrier_all();
    printf("rank %d: hash=%016llx\n", me, (unsigned long long)osh_hash);
    fflush(stdout);
    if (strcmp(how, "global") == 0) {
        if (me == pes - 1)
            shmem_global_exit(3);
        for (;;)
            osh_pause(1000);
    }
    if (strcmp(how, "crash") == 0 && me == 1)
        *(volatile int *)NULL = 1;
    shmem_finalize();
    return strcmp(how, "status") == 0 ? 4 : 0;
}
