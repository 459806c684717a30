# SPDX-License-Identifier: MIT
# Who wrote what is in memory that is attached to dynamic windows: each value names its writer. Memory comes and goes, and lies elsewhere when a rank is alone.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/track.sh"
launcher "$mpi" 4
[ "$mpi-${openmpi_version%%.*}" != openmpi-4 ] || export OMPI_MCA_osc=pt2pt # the others have no dynamic windows on every machine
"mpicc.$mpi" -O2 -g -o plain "$programs/who_dynamic_attached.c" || fail "not compiled"
skip_unless_native 60 "${launch[@]}" ./plain
! track_with clang || tracked "$mpi" "$programs/who_dynamic_attached.c" tracked
for program in plain tracked; do
    [ -e "$program" ] || continue
    for set in all 1,2; do
        rm -rf run
        run 100 record "$reprise" record --ranks "$set" -o run "${launch[@]}" "./$program"
        [ "$status" -eq 0 ] || fail "$program, $set: record: exit status $status"
        run 100 solo "$reprise" solo -r "$set" --who --json run
        [ "$status" -eq 0 ] || fail "$program, $set: solo: exit status $status"
        /usr/bin/python3 "$programs/who_dynamic_right.py" "${set/all/0,1,2,3}" <solo.out >right.out 2>right.err || fail "$program, $set: not right"
        echo "$program, ranks $set: $(cat right.out)"
    done
done
