# SPDX-License-Identifier: MIT
# Locks and critical sections of OpenMP by LLVM's runtime, whose own mutexes are none of the program's. Needs clang and its OpenMP.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
tests=$(cd "$(dirname "$0")/../mpi" && pwd)
clang=$(compgen -c clang | grep -E '^clang(-[0-9]+)?$' | sort -V | tail -n 1)
[ -n "$clang" ] || { echo "skipped: there is no clang"; exit 77; }
OMPI_CC=$clang MPICH_CC=$clang run 60 compile "mpicc.$mpi" -g -O1 -I"$tests" -fopenmp=libomp "$tests/omp_locks.c" -o program
[ "$status" -eq 0 ] || { echo "skipped: $clang does not compile OpenMP programs here"; exit 77; }
ldd program | grep -q 'libomp' || fail "not LLVM's runtime"
for round in 1 2 3; do
    run 60 record "$reprise" record -o "run$round" "${launch[@]}" ./program
    [ "$status" -eq 0 ] || fail "record: exit status $status"
    run 60 replay "$reprise" replay "run$round"
    [ "$status" -eq 0 ] || fail "replay: exit status $status"
    [ -n "$(result record)" ] && [ "$(result replay)" = "$(result record)" ] || fail "another result"
done
