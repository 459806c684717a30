# SPDX-License-Identifier: MIT
# Shared by the tests of tracked programs; after common.sh.
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

how=${TRACK_HOW:-plugin} # or calls

# COMPILER: compile by it from now on; false: it cannot track
track_with() {
    local version
    version=$("$1" -dumpversion 2>/dev/null | cut -d. -f1)
    [ -n "$version" ] || return 1
    [ "$how" = calls ] || [ -e "$build/lib/reprise/cc/reprise-track-$([ "$1" = clang ] && echo llvm || echo gcc)-$version.so" ] || return 1
    export OMPI_CC=$1 MPICH_CC=$1
}

# COMPILER...: by the first of them that can
track_with_first() {
    for compiler; do
        if track_with "$compiler"; then return 0; fi
    done
    return 1
}

# MPI SOURCE PROGRAM [OPTION...]
tracked() {
    local wrapper=reprise-cc
    [[ $2 != *.F90 ]] || wrapper=reprise-fc
    "$build/bin/$wrapper" "--track=$how" "--mpi=$1" -O2 -g "-I$tests/mpi" "$2" -o "$3" "${@:4}" >"$work/compile.out" 2>"$work/compile.err" || fail "$2 does not compile"
}
