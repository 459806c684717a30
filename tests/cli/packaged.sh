# SPDX-License-Identifier: MIT
# Programs find libreprise.a and libreprise-tasks.a by pkg-config and by CMake, wherever the prefix is.
source "$(dirname "$0")/../lib/common.sh"
source "$(dirname "$0")/../lib/installed.sh"
mpi=$1
[ "$mpi" != abi ] || { echo "skipped: the standard ABI has no compiler wrapper of its own here"; exit 77; }
source=$(cd "$(dirname "$0")/../.." && pwd)
mv "$place" "$prefix"
launcher "$mpi" 2
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name reprise.pc)")
export PKG_CONFIG_PATH

cp "$source/tests/app/programs/task_ready_halo.c" tasks.c
cat >loop.c <<'END'
#include <mpi.h>
#include <reprise.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    double state = 0;
    MPI_Init(&argc, &argv);
    reprise_protect(0, &state, sizeof state);
    REPRISE_LOOP(i, 0, 10) state += (double)i;
    printf("loop %g\n", state);
    MPI_Finalize();
    return 0;
}
END

ends() { # PROGRAM
    run 60 "$1" "${launch[@]}" "./$1"
    [ "$status" -eq 0 ] || fail "$1: $status"
}
flags() { pkg-config --cflags --libs "$1" || fail "pkg-config does not know $1"; }
"mpicc.$mpi" -o loop_pc loop.c $(flags reprise) || fail "not compiled by pkg-config reprise"
"mpicc.$mpi" -o tasks_pc tasks.c $(flags "reprise-tasks-$mpi") || fail "not compiled by pkg-config reprise-tasks-$mpi"
ends loop_pc
grep -qx 'loop 45' loop_pc.out || fail "loop_pc: wrong result"
ends tasks_pc
version=$("$prefix/bin/reprise" --version)
for name in reprise "reprise-tasks-$mpi"; do
    [ "reprise $(pkg-config --modversion "$name")" = "$version" ] || fail "$name.pc has another version than $version"
done
if [ -e "$prefix/include/reprise.mod" ] && command -v "mpif90.$mpi" >/dev/null; then
    printf 'program p\n use reprise\n use mpi_f08\n call MPI_Init()\n if (reprise_active() /= 0) stop 1\n call MPI_Finalize()\nend program\n' >module.f90
    "mpif90.$mpi" -I"$(pkg-config --variable=fmoddir reprise)" -o module_pc module.f90 $(flags reprise) || fail "the Fortran module is not found"
    ends module_pc
fi

# CMake, with an MPI that it finds itself, and with the MPI's mpicc as the compiler.
mkdir project
cp loop.c tasks.c project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
if(FIND_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()
find_package(reprise 0.1 REQUIRED)
list(FIND reprise_MPIS ${MPI} place)
if(place LESS 0)
  message(FATAL_ERROR "reprise_MPIS does not have ${MPI}: ${reprise_MPIS}")
endif()
add_executable(loop_cmake loop.c)
target_link_libraries(loop_cmake reprise::reprise $<TARGET_NAME_IF_EXISTS:MPI::MPI_C>)
add_executable(tasks_cmake tasks.c)
target_link_libraries(tasks_cmake reprise::tasks_${MPI})
END
wrapper=$(command -v "mpicc.$mpi")
by_cmake() { # NAME OPTION...
    run 120 "$1" cmake -S project -B "$1" -DMPI="$mpi" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}"
    [ "$status" -eq 0 ] || fail "$1: find_package(reprise) fails"
    run 120 "$1-built" cmake --build "$1"
    [ "$status" -eq 0 ] || fail "$1: it does not build"
    ends "$1/loop_cmake" && ends "$1/tasks_cmake"
}
by_cmake found -DFIND_MPI=ON -DMPI_C_COMPILER="$wrapper"
by_cmake wrapper -DCMAKE_C_COMPILER="$wrapper"
sed 's/reprise 0.1 REQUIRED/reprise 0.9 REQUIRED/' project/CMakeLists.txt >project/newer.txt && mv project/newer.txt project/CMakeLists.txt
run 60 newer cmake -S project -B newer -DMPI="$mpi" -DCMAKE_PREFIX_PATH="$prefix"
[ "$status" -ne 0 ] && grep -q 'version.*0\.9' newer.err || fail "version 0.9 is found where 0.1 is"
