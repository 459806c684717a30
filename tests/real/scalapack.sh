# SPDX-License-Identifier: MIT
# ScaLAPACK's own test programs. The BLACS testers end by testing BLACS_ABORT.
packages=(scalapack-mpi-test scalapack-test-common)
inputs() { cp /usr/share/scalapack/*.dat /usr/share/scalapack/BLACS/*.dat .; }
# Without the times and rates.
results() {
    awk '/^(WALL|CPU)/ { for (i = 2; i <= NF; i++) if ($i ~ /^-?[0-9]+\.[0-9][0-9]$/) $i = "-" }
         /(PASSED|FAILED) +EV/ { $7 = $8 = "-" }
         { print }' "$1"
}
app() {
    local mpi ranks program place
    for mpi in openmpi mpich; do
        [ "$mpi" = openmpi ] && ranks=4 || ranks=2
        place=$(dirname "$(dpkg -L scalapack-mpi-test | grep "/$mpi-tests/xdlu\$")")
        aborts=255
        for program in xFbtest xCbtest; do try "scalapack $program" "$mpi" "$ranks" "$place/$program"; done
        aborts=0
        for program in xdlu xdllt xdqr xdsep; do try "scalapack $program" "$mpi" "$ranks" "$place/$program"; done
    done
}
