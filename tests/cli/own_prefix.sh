# SPDX-License-Identifier: MIT
# An MPI in a prefix of its own, which is known by its mpicc alone, and whose mpi.h has a function more: reprise is built for it as by an ordinary user, refuses that function by name, and records the rest.
top=$(cd "$(dirname "$0")/../.." && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
[ "$mpi" != abi ] || { echo "skipped: the standard ABI has no compiler wrapper of its own here"; exit 77; }
mkdir -p opt/bin opt/include
cat >opt/include/mpi.h <<'END'
#include_next <mpi.h>
int MPI_Brand_new(int number, MPI_Comm comm);
int PMPI_Brand_new(int number, MPI_Comm comm);
END
read -r compiler flags <<<"$(mpicc.$mpi -show)"
cat >opt/bin/mpicc <<END
#!/bin/sh
[ "\$1" = -show ] && { echo $compiler -I$work/opt/include $flags; exit 0; }
exec $compiler -I$work/opt/include "\$@" $flags
END
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v mpirun.$mpi)" >opt/bin/mpirun
chmod +x opt/bin/mpicc opt/bin/mpirun

export CC=${CC:-gcc}
run 300 configure cmake -S "$top" -B tree -DREPRISE_MPICC="$work/opt/bin/mpicc" -DCMAKE_BUILD_TYPE=Debug -DREPRISE_PLUGINS=OFF -DREPRISE_SHMEM=OFF
[ "$status" -eq 0 ] || fail "the configuration fails"
grep -q "reprise for $mpi: $work/opt/bin/mpicc, version [0-9]" configure.out || fail "the MPI is not named"
grep -q 'refused, for want of a row in api/functions.table: MPI_Brand_new$' configure.out || fail "the function more is not listed"
run 600 made cmake --build tree -j 2 --target reprise "reprise_$mpi" "det_$mpi" "compound_$mpi"
[ "$status" -eq 0 ] || fail "it does not build"
! grep -q 'warning:' made.err || fail "warnings"

opt/bin/mpicc -shared -fPIC "$programs/brand_new_library.c" -o libmore.so || fail "the library does not compile"
opt/bin/mpicc "$programs/brand_new.c" -o program -L. -lmore -Wl,-rpath,"$work" || fail "the program does not compile"
mpirun.$mpi -n 1 true >/dev/null 2>&1 || { echo "skipped: mpirun.$mpi does not start"; exit 77; }
run 60 record tree/bin/reprise record -o whole opt/bin/mpirun -n 3 ./program never
[ "$status" -eq 0 ] && grep -q 'recorded [1-9]' record.err || fail "record: $status"
run 60 stopped tree/bin/reprise record -o stopped opt/bin/mpirun -n 3 ./program direct
[ "$status" -eq 123 ] && grep -q 'MPI_Brand_new cannot be replayed yet' stopped.err || fail "not refused by name: $status"
run 60 det tree/bin/reprise det opt/bin/mpirun -n 3 ./program direct
[ "$status" -eq 123 ] && grep -q 'MPI_Brand_new cannot be made deterministic' det.err || fail "det: not refused by name: $status"
echo 'echo no MPI >&2; exit 1' >opt/bin/broken && chmod +x opt/bin/broken
run 60 none cmake -S "$top" -B none -DREPRISE_MPICC="$work/opt/bin/broken" -DREPRISE_PLUGINS=OFF
[ "$status" -ne 0 ] && grep -q 'opt/bin/broken: no MPI that reprise knows' none.err || fail "what is no MPI is not named"
