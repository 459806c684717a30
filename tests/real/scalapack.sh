# SPDX-License-Identifier: MIT
# ScaLAPACK's own test programs, with fewer right-hand sides. The BLACS testers end by testing BLACS_ABORT.
packages=(scalapack-mpi-test scalapack-test-common)
inputs() {
    cp /usr/share/scalapack/*.dat /usr/share/scalapack/BLACS/*.dat . &&
        sed -i -E "s/^[0-9]+([ \t]+number of problems sizes)/2\1/; s/^[0-9]+([ \t]+[Nn]umber of (NRHS|NBRHS|NB)'s)/1\1/" LU.dat LLT.dat
}
# Without the times and rates.
results() {
    awk '/^(WALL|CPU)/ { for (i = 2; i <= NF; i++) if ($i ~ /^-?[0-9]+\.[0-9][0-9]$/) $i = "-" }
         /(PASSED|FAILED|SKIPPED)/ && NF >= 11 { $7 = $8 = "-" }
         { print }' "$1"
}
app() {
    local mpi program place
    for mpi in openmpi mpich; do
        place=$(dirname "$(dpkg -L scalapack-mpi-test | grep "/$mpi-tests/xdlu\$")")
        aborts=0
        # xdllt decides by a value that pdlacon never set (valgrind tells where): natively, many of its runs on x86_64 hang, since its ranks do not agree whether they are done.
        for program in xdlu $([ "$(uname -m)" = x86_64 ] || echo xdllt) xdqr xdsep; do try "scalapack $program" "$mpi" 4 "$place/$program"; done
        aborts=255
        # Not alone: ranks that wait to be aborted by another compute for ever, without any call.
        for program in xFbtest xCbtest; do orders=${orders:-outside inside} try "scalapack $program" "$mpi" 4 "$place/$program"; done
    done
}
