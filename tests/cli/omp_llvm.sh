# SPDX-License-Identifier: MIT
# Locks, critical sections and shared work of OpenMP by LLVM's runtime, whose own mutexes are none of the program's. Needs clang and its OpenMP.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
tests=$(cd "$(dirname "$0")/../mpi" && pwd)
clang=$(compgen -c clang | grep -E '^clang(-[0-9]+)?$' | sort -V | tail -n 1)
[ -n "$clang" ] || { echo "skipped: there is no clang"; exit 77; }
for name in omp_locks omp_sharing omp_funneled; do
    read -ra options <<<"$(headers "$tests/$name.c" record)"
    OMPI_CC=$clang MPICH_CC=$clang run 60 compile "mpicc.$mpi" -g -O1 -I"$tests" -fopenmp=libomp "$tests/$name.c" -o "$name"
    [ "$status" -eq 0 ] || { echo "skipped: $clang does not compile OpenMP programs here"; exit 77; }
    ldd "$name" | grep -q 'libomp' || fail "not LLVM's runtime"
    for round in 1 2 3; do
        TEST_ORDER=up run 60 record "$reprise" record "${options[@]}" -o "$name-$round" "${launch[@]}" "./$name"
        [ "$status" -eq 0 ] || fail "$name: record: exit status $status"
        TEST_ORDER=down run 60 replay "$reprise" replay "$name-$round"
        [ "$status" -eq 0 ] || fail "$name: replay: exit status $status"
        [ -n "$(result record)" ] && [ "$(result replay)" = "$(result record)" ] || fail "$name: another result"
    done
done
