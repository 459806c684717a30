# SPDX-License-Identifier: MIT
# Features of MPI under `reprise stress`: each run's record replays to the same output.
sources=$(cd "$(dirname "$0")/../mpi" && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
tried=0
for source in threads_corners sessions partitioned large_count_c generalized_requests request_get_status file_pointer spawn ports solo/solo_windows; do
    name=${source##*/}
    launcher "$mpi" "$(headers "$sources/$source.c" ranks | head -n 1)"
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
[ "$tried" -ge 6 ] || fail "only $tried programs run with this MPI"
