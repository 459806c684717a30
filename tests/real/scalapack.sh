# SPDX-License-Identifier: MIT
# ScaLAPACK's own test programs. The BLACS testers receive from anyone, and poll for their sends.
packages=(scalapack-mpi-test scalapack-test-common)
inputs() { cp /usr/share/scalapack/*.dat /usr/share/scalapack/BLACS/*.dat .; }
# The times at the end of a line, and those in the BLACS tester's report, are not results.
results() { grep -vE '^(WALL|CPU|BOTH) +[0-9].*(PASSED|FAILED|UNTESTED) *$' "$1" | grep -vi 'time' && grep -E '^(WALL|CPU|BOTH) ' "$1" | awk '{ print $1, $2, $3, $4, $5, $NF }'; }
app() {
    local mpi program place
    for mpi in openmpi mpich; do
        place=$(dirname "$(dpkg -L scalapack-mpi-test | grep "/$mpi-tests/xdlu\$")")
        for program in xFbtest xCbtest xdlu xdllt xdqr xdsep; do try "scalapack $program" "$mpi" 4 "$place/$program"; done
    done
}
