# SPDX-License-Identifier: MIT
# Build systems: a CMake project in three languages, a configure script's questions, and MPI in all the ways that the guide names.
source "$(dirname "$0")/../lib/cc.sh"

counts() { nm -D "$1" | grep -q ' B reprise_ticks$' || fail "$1 does not count"; }

CC=reprise-cc CXX=reprise-c++ good 200 configure cmake -S "$programs/project" -B made -DCMAKE_BUILD_TYPE=Release
good 200 build cmake --build made
good 60 some made/some
counts made/some
counts made/libpart.so

# What configure asks: is it GNU, does it take -g, where does the output go, can programs run, which linker, dependencies.
export CC=reprise-cc
echo 'int main(void) { return 0; }' >conftest.c
good 60 output $CC conftest.c && ./a.out || fail "a.out"
good 60 object $CC -g -c conftest.c && [ -s conftest.o ] || fail "conftest.o"
$CC -E conftest.c 2>preprocess.err | grep -q main && [ ! -s preprocess.err ] || fail "-E"
$CC -v conftest.o -o conftest 2>&1 | grep -q collect2 || fail "-v"
good 60 depend $CC -MT conftest.o -MD -MP -MF conftest.d -c conftest.c && grep -q '^conftest.o:' conftest.d || fail "dependencies"
good 60 warnings $CC -Wall -Wextra -Werror -pedantic -c conftest.c && [ ! -s warnings.err ] || fail "warnings"
[ -x "$($CC -print-prog-name=ld)" ] || [ "$($CC -print-prog-name=ld)" = ld ] || fail "-print-prog-name=ld"

for mpi in openmpi mpich; do
    command -v mpicc.$mpi >/dev/null || continue
    launcher $mpi 2
    OMPI_CC=reprise-cc MPICH_CC=reprise-cc good 60 by_mpicc mpicc.$mpi -O2 "$programs/projects_hello.c" -o by_mpicc
    good 60 by_option reprise-cc --mpi=$mpi -O2 "$programs/projects_hello.c" -o by_option
    REPRISE_CC=mpicc.$mpi good 60 by_setting reprise-cc -O2 "$programs/projects_hello.c" -o by_setting
    OMPI_CC=reprise-cc MPICH_CC=reprise-cc REPRISE_CC=mpicc.$mpi good 60 by_all reprise-cc -O2 "$programs/projects_hello.c" -o by_all
    for program in by_mpicc by_option by_setting by_all; do
        counts $program
        good 60 run_$program "${launch[@]}" ./$program
        grep -q two run_$program.out || fail "$program does not run"
    done
done
echo "projects build, and count"
