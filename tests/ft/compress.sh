# SPDX-License-Identifier: MIT
# Logs that are compressed take less memory, and a rank that died gets the same messages from them: what it was sent from the program's memory, and parts of collectives, which are sent from the log.
source "$(dirname "$0")/../lib/ft.sh"
cat >sums.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include "reprise.h"
enum { LONG = 5000 };
int main(int argc, char **argv)
{
    static double part[LONG], other[LONG], sum[LONG];
    double all = 0;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, part, sizeof part);
    reprise_protect(1, &all, sizeof all);
    REPRISE_LOOP(i, 0, 20) {
        for (int k = 0; k < LONG; k++)
            part[k] += k % 7 + rank;
        MPI_Sendrecv(part, LONG, MPI_DOUBLE, (rank + 1) % size, 1, other, LONG, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(other, sum, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(sum, LONG, MPI_DOUBLE, (int)(i % size), MPI_COMM_WORLD);
        all += sum[i] + other[2 * i];
    }
    if (rank == 0)
        printf("RESULT %.17g\n", all);
    MPI_Finalize();
    return 0;
}
END
mpicc.openmpi -O1 -I "$(dirname "$tools")/include" sums.c -o sums "$build/lib/libreprise.a" || fail "cannot compile"
peak() { python3 -c 'import json, sys; print(max(json.loads(line).get("log_peak", 0) for line in open(sys.argv[1])))' "$1/events.jsonl"; }
expect plain 3 -o plain -- ./sums
survive compressed 1 3 -o compressed --compress --kill 2@17:1 -- ./sums
[ "$(peak compressed)" -lt $(($(peak plain) / 4)) ] || fail "the log took $(peak compressed) bytes, $(peak plain) without --compress"
