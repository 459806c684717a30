# SPDX-License-Identifier: MIT
# MPI_Isendrecv from anyone, wherever it is called from: Fortran, a library that the program is linked with, one that it loads, the second program of a command; under stress, and where the order of receives is shuffled. Programs that do not call it
# have nothing in front of their calls.
include=$(cd "$(dirname "$0")/../../include" && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
[ "$mpi" = mpich ] || { echo "skipped: for mpich only"; exit 77; }
launcher "$mpi" 3
mpicc.mpich -g -shared -fPIC -o libexchange.so "$programs/isendrecv_library.c" && mpicc.mpich -g -o linked "$programs/isendrecv_main.c" -L. -lexchange -Wl,-rpath,"$work" && mpicc.mpich -g -DPLUGIN -o loading "$programs/isendrecv_main.c" -ldl && mpicc.mpich -g -DIDLE -o idle "$programs/isendrecv_main.c" && mpicc.mpich -g -o whole "$programs/isendrecv_main.c" "$programs/isendrecv_library.c" || fail "it does not compile"

for program in linked loading whole; do
    run 60 record "$reprise" record -o "$program.run" "${launch[@]}" "./$program"
    [ "$status" -eq 0 ] || fail "record $program: exit status $status"
    run 60 replay "$reprise" replay "$program.run"
    [ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(result replay)" = "$(result record)" ] || fail "replay $program: exit status $status"
    run 60 det "$reprise" det "${launch[@]}" "./$program"
    [ "$status" -eq 0 ] && [ -n "$(result det)" ] || fail "det $program: exit status $status"
done
"$reprise" dump --sites whole.run >dump.out && grep -q "isendrecv_library.c:$(line_of complete "$programs/isendrecv_library.c")" dump.out || fail "the place of the program's call is not told"
"$reprise" doctor ./whole >doctor.out && ! grep -q refused doctor.out || fail "doctor: something is refused"
[ "$("$reprise" env record ./idle | grep -c libreprise-compound)" -eq 0 ] || fail "a program that never calls it pays for it"
[ "$("$reprise" env record ./whole | grep -c libreprise-compound)" -eq 1 ] || fail "a program that calls it is not looked after"

# Begun by a plugin that a library of the program loads, where a script hides the program: until then the calls go past what is in front of them.
source=$programs/isendrecv_late.c
mpicc.mpich -g -shared -fPIC -DPLUGIN -o libplugin.so "$source" && mpicc.mpich -g -shared -fPIC -DLIBRARY -o libloads.so "$source" -ldl && mpicc.mpich -g -o late "$source" -L. -lloads -Wl,-rpath,"$work" || fail "it does not compile"
printf '#!/bin/sh\nexec ./late\n' >hiding && chmod +x hiding
run 60 native "${launch[@]}" ./late
run 60 record "$reprise" record -o late.run "${launch[@]}" ./hiding
[ "$status" -eq 0 ] && [ "$(result record)" = "$(result native)" ] || fail "record of a late one: exit status $status"
run 60 replay "$reprise" replay late.run
[ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(result replay)" = "$(result record)" ] || fail "replay of a late one: exit status $status"

# The second program of a command.
mpicc.mpich -g -w -DPLAIN -o plain "$programs/isendrecv_waits.c" && mpicc.mpich -g -o second "$programs/isendrecv_waits.c" "$programs/isendrecv_library.c" || fail "it does not compile"
run 60 record "$reprise" record -o two mpirun.mpich -n 1 ./plain : -n 2 ./second
[ "$status" -eq 0 ] || fail "record of two programs, of which the second calls it: exit status $status"
run 60 replay "$reprise" replay two
[ "$status" -eq 0 ] && [ "$(sort replay.out)" = "$(sort record.out)" ] || fail "replay of two programs: exit status $status"

run 100 stress "$reprise" stress --runs 3 -o stressed "${launch[@]}" ./whole
[ "$status" -ne 123 ] && [ "$status" -ne 125 ] && grep -q '3 runs' stress.err stress.out || fail "stress: exit status $status"

# What is handed over by it after a region whose receives are shuffled, which with an argument depends on their order.
mpicc.mpich -g -I "$include" -o region "$programs/isendrecv_region.c" "$build/lib/libreprise.a" -ldl || fail "it does not compile"
for argument in '' careless; do
    rm -rf run
    run 60 record "$reprise" record -o run "${launch[@]}" ./region $argument
    [ "$status" -eq 0 ] || fail "record of a region: exit status $status"
    for seed in 1 2 3; do
        run 60 "shuffled$seed" env REPRISE_SHUFFLE=$seed "$reprise" replay --shuffle run
        [ -n "$argument" ] || { [ "$status" -eq 0 ] && [ "$(result "shuffled$seed")" = "$(result record)" ]; } || fail "shuffled: exit status $status"
    done
    [ -z "$argument" ] || grep -q "MPI_Isendrecv_replace.*isendrecv_region.c:$(line_of replace "$programs/isendrecv_region.c")" shuffled?.err || fail "what depends on the order is not found"
done

command -v mpif90.mpich >compile.out || { echo "without Fortran: no compiler"; exit 0; }
for program in old new; do
    mpif90.mpich -g -ffree-line-length-none -o "$program" "$programs/isendrecv_$program.f90" >compile.out 2>&1 || fail "isendrecv_$program.f90 does not compile: $(cat compile.out)"
    run 60 record "$reprise" record -o "$program.run" "${launch[@]}" "./$program"
    [ "$status" -eq 0 ] || fail "record of Fortran, $program: exit status $status"
    run 60 replay "$reprise" replay "$program.run"
    [ "$status" -eq 0 ] && grep -q identical replay.err && [ "$(sort replay.out)" = "$(sort record.out)" ] || fail "replay of Fortran, $program: exit status $status"
done
