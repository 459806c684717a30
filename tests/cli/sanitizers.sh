# SPDX-License-Identifier: MIT
# Programs under AddressSanitizer and UndefinedBehaviorSanitizer are recorded and replayed, in both launch orders, and their own errors are still found.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../mpi" && pwd)
export ASAN_OPTIONS=detect_leaks=0 # of the MPI library
export HWLOC_COMPONENTS=-opencl     # some of whose drivers do not work under the sanitizer
for name in testsome threads_mutex; do
    "mpicc.$mpi" -g -fsanitize=address,undefined -I"$here" -o "$name" "$here/$name.c" -lm -lpthread >compile.out 2>&1 ||
        { echo "skipped: no sanitizers here"; exit 77; }
    launcher "$mpi" "$(headers "$here/$name.c" ranks)"
    TEST_ORDER=up skip_unless_native 100 "${launch[@]}" "./$name" # MPI_Init of Open MPI 6.0.0rc2 ends by a signal
    rm -rf run
    run 100 record "$reprise" record -o run "${launch[@]}" "./$name"
    [ "$status" -eq 0 ] || fail "record of $name: exit status $status"
    TEST_ORDER=down run 100 replay "$reprise" replay run
    [ "$status" -eq 0 ] || fail "replay of $name: exit status $status"
    [ "$(result replay)" = "$(result record)" ] || fail "$name: another result"
    grep -q 'identical$' "$work/replay.err" || fail "$name: not identical"
done
rm -rf run
launcher "$mpi" 4
run 100 record "${launch[@]}" "$reprise" record -o run ./testsome
[ "$status" -eq 0 ] || fail "inside: exit status $status"
"mpicc.$mpi" -g -fsanitize=address -o wrong "$programs/sanitizers_wrong.c" || fail "it does not compile"
rm -rf run
run 100 wrong "$reprise" record -o run "${launch[@]}" ./wrong
[ "$status" -ne 0 ] || fail "the error was not found"
grep -q 'heap-buffer-overflow' "$work/wrong.err" "$work/wrong.out" || fail "no word of the error"
