# SPDX-License-Identifier: MIT
# Features of MPI under `reprise stress`: each run's record replays to the same output. One-sided communication is refused by name.
sources=$(cd "$(dirname "$0")/../mpi" && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
tried=0
for name in threads_corners sessions partitioned large_count_c generalized_requests request_get_status file_pointer spawn ports; do
    launcher "$mpi" "$(headers "$sources/$name.c" ranks | head -n 1)"
    program=$build/tests/mpi/$mpi/$name
    [ -x "$program" ] || fail "$name: not built"
    timeout 60 "${launch[@]}" "$program" >native.out 2>native.err </dev/null && ! grep -q '^SKIP' native.out || { echo "$name: not with this MPI"; continue; }
    rm -rf many
    run 150 stress "$reprise" stress --runs 2 --seed 7 --timeout 60 -o many "${launch[@]}" "$program"
    [ "$status" -le 1 ] && [ "$(grep -c '^run-[12]: seed [0-9]*, status 0, ' stress.out)" -eq 2 ] || fail "$name: stress: exit status $status"
    for record in many/run-*/; do # those that differ from others are kept
        record=${record%/}
        run 100 replay "$reprise" replay "$record"
        [ "$status" -eq 0 ] && grep -q ': identical$' replay.err || fail "$name: $record: exit status $status"
        diff <(sort "$record.out") <(sort replay.out) >/dev/null || fail "$name: $record: another output"
    done
    tried=$((tried + 1))
done
[ "$tried" -ge 5 ] || fail "only $tried programs run with this MPI"
launcher "$mpi" 4
run 100 windows "$reprise" stress --runs 1 -o windows "${launch[@]}" "$build/tests/mpi/$mpi/solo_windows"
[ "$status" -eq 123 ] && grep -q 'MPI_Win_allocate cannot be replayed' windows.err || fail "windows: exit status $status"
