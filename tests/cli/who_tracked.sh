# SPDX-License-Identifier: MIT
# Who wrote what tracked programs load, and what is found in shared windows: each value names its writer, or the turns do. At least 99 of 100 are right, or, of values that several write in turn, among those told; ranks outside the set are called so.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/track.sh"
launcher "$mpi" 4

for how in plugin calls; do
    [[ $mpi-$how = openmpi-plugin || $mpi-$how = mpich-calls ]] && order="clang gcc" || order="gcc clang" # each compiler does each with one MPI
    track_with_first $order || continue
    way="$compiler $how"
    tracked "$mpi" "$programs/who_tracked_known.c" known
    skip_unless_native 60 "${launch[@]}" ./known # shared windows are not everywhere
    for set in all 0,1 $([ "$how" = calls ] || echo 1,2,3); do
        rm -rf run
        run 100 record "$reprise" record --ranks "$set" -o run "${launch[@]}" ./known
        [ "$status" -eq 0 ] || fail "$way, $set: record: exit status $status"
        run 100 solo "$reprise" solo -r "$set" --who --json run
        [ "$status" -eq 0 ] || fail "$way, $set: solo: exit status $status"
        ranks=${set/all/0,1,2,3}
        /usr/bin/python3 "$programs/who_tracked_right.py" "$programs/who_tracked_known.c" "$ranks" 200 <solo.out >right.out 2>right.err || fail "$way, $set: not right"
        echo "$way, ranks $set: $(cat right.out)"
    done
done
"$reprise" dump --who run >dump.out 2>dump.err || fail "dump"
grep -qE '^[0-3] [0-9]+ LOAD load access=[0-9]+ window=1 owner=[0-3] offset=[0-9]+ bytes=8 load=[0-9]+ at=[^ ]*known.c:[0-9]+ value=[0-9a-f]{16} writer=[0-3] how=store by=store after=[0-9]+ written=[^ ]*known.c:[0-9]+' dump.out || fail "no such line"

# Shared, and not tracked: what changed is found at calls.
"mpicc.$mpi" -O2 -g -o calls "$programs/who_tracked_calls.c" || fail "not compiled"
for set in all 0,1; do
    run 100 record "$reprise" record --allow MPI_Win_allocate_shared --ranks "$set" -o "calls-$set" "${launch[@]}" ./calls
    [ "$status" -eq 0 ] || fail "calls, $set: record: exit status $status"
    run 100 solo "$reprise" solo -r "$set" --who --json "calls-$set"
    [ "$status" -eq 0 ] || fail "calls, $set: solo: exit status $status"
    /usr/bin/python3 "$programs/who_tracked_calls.py" "${set/all/0,1,2,3}" <solo.out >right.out 2>right.err || fail "calls, $set: not right"
    echo "calls, ranks $set: $(cat right.out)"
done
