# SPDX-License-Identifier: MIT
# Where MPI loses the status of a persistent receive that MPI_Request_get_status has shown, as MPICH does from 4.1 on, replays have it all the same.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
[[ $mpi = mpich* ]] || { echo "skipped: only MPICH loses them"; exit 77; }
"mpicc.$mpi" -shared -fPIC -O1 -o liblosing.so "$programs/losing.c" || fail "liblosing.so does not compile"
for name in envelope_kinds persistent_startall persistent_any; do
    LD_PRELOAD=$work/liblosing.so REPRISE_BUILD=$build run 200 "$name" "$tests/runners/mpi" "$tests/mpi/$name.c" "$mpi"
    [ "$status" -eq 0 ] || fail "$name: exit status $status"
done
