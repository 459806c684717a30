# SPDX-License-Identifier: MIT
# Tracked code: random functions with loops over memory that is in windows, near them, between them, or far from them, while a thread stores into the windows. What they load is recorded, by a small recorder of this test, and they are run
# once more with what was recorded: alone. Results, the number of loads, what was to be told, and all memory must be the same.
source "$(dirname "$0")/../lib/cc.sh"
rounds=${TRACK_ROUNDS:-1} first=${TRACK_SEED:-1} # the functions are those of the seeds from the first on

gcc -O1 -Wall -o generate "$programs/track_random_generate.c" || fail "track_random_generate.c does not compile"
gcc -O2 -Wall -I "$(dirname "${BASH_SOURCE[0]}")/../../src" -c "$programs/track_random_runtime.c" -o runtime.o || fail "track_random_runtime.c does not compile"
wide= widest=
[ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo && wide=-mavx2
[ -n "$wide" ] && grep -qw avx512vl /proc/cpuinfo && grep -qw avx512bw /proc/cpuinfo && grep -qw avx512dq /proc/cpuinfo && widest="-mavx512f -mavx512vl -mavx512bw -mavx512dq -mprefer-vector-width=512"
try() { # COMPILER SEED OPTION...
    ./generate "$2" >functions.c
    REPRISE_CC=$1 good 100 build reprise-cc --track=plugin -w "${@:3}" functions.c runtime.o -pthread -o functions
    run 100 functions ./functions "$2"
    [ "$status" -eq 0 ] || fail "$1 ${*:3}, functions of seed $2: status $status: $(head -n 3 functions.out)"
}
tried=0
for compiler in clang gcc; do
    version=$("$compiler" -dumpversion 2>/dev/null | cut -d. -f1)
    [ -e "$plugins/reprise-track-$([ "$compiler" = clang ] && echo llvm || echo gcc)-$version.so" ] || continue
    for ((round = 0; round < rounds; round++)); do
        seed=$((first + 3 * round))
        try "$compiler" "$seed" -O2
        try "$compiler" "$((seed + 1))" -O3 $wide
        [ -z "$widest" ] || try "$compiler" "$((seed + 1))" -O3 $widest
        try "$compiler" "$((seed + 2))" -O1
        tried=$((tried + 1))
    done
    echo "$compiler: $(tail -n 1 functions.out)"
done
[ "$tried" -gt 0 ] || { echo "skipped: no plugin"; exit 77; }
