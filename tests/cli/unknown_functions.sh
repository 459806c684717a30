# SPDX-License-Identifier: MIT
# A function that only the MPI at run time has: whoever calls it is stopped by its name, however the program was linked and however it calls; --allow lets it through.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
mpicc.$mpi -shared -fPIC "$programs/brand_new_library.c" -o libmore.so || fail "the library does not compile"

build_program() { # NAME FLAG...
    mpicc.$mpi -O1 "$programs/brand_new.c" -o "$1" "${@:2}" -L. -lmore -Wl,-rpath,"$work" || fail "$1 does not compile"
}

stopped() { # PROGRAM HOW
    run 60 record "$reprise" record -o "$1-$2" "${launch[@]}" "./$1" "$2"
    [ "$status" -eq 123 ] || fail "record of $1 $2: exit status $status, not 123"
    grep -q 'MPI_Brand_new is not in the mpi.h that reprise was built with' "$work/record.err" || fail "$1 $2: the function is not named"
    ! grep -q '^RESULT' "$work/record.out" || fail "$1 $2: went on"
    run 60 det "$reprise" det "${launch[@]}" "./$1" "$2"
    [ "$status" -eq 123 ] && grep -q 'MPI_Brand_new cannot be made deterministic' "$work/det.err" || fail "det $1 $2: not stopped by name ($status)"
}

build_program now -fPIE -pie -Wl,-z,relro,-z,now
build_program lazy -fPIE -pie -Wl,-z,lazy
build_program fixed -fno-pie -no-pie
build_program pointers -fPIE -pie -fno-plt -Wl,-z,relro,-z,now
for program in now lazy fixed pointers; do stopped $program direct; done
stopped now profiled
stopped now table
stopped fixed table

run 60 plain "$reprise" record -o plain "${launch[@]}" ./now never # is there, but is not called
[ "$status" -eq 0 ] && grep -q 'recorded [1-9]' "$work/plain.err" || fail "a program that does not call it is stopped"
run 60 native "${launch[@]}" ./now direct
[ "$status" -eq 0 ] || fail "natively: $status"
run 60 allowed "$reprise" record --allow MPI_Brand_new -o allowed "${launch[@]}" ./now direct
[ "$status" -eq 0 ] && [ -n "$(result allowed)" ] || fail "--allow: $status"
run 60 replay "$reprise" replay --allow MPI_Brand_new allowed
[ "$status" -eq 0 ] && [ "$(result replay)" = "$(result allowed)" ] || fail "replay of what was allowed: $status"
"$reprise" doctor ./now >doctor.out
grep -qE 'calls(, or only mentions,)? MPI_Brand_new, which is refused' doctor.out || fail "doctor does not name it"
