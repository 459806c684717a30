# SPDX-License-Identifier: MIT
# --check finds what is not protected; a program that protects all that changes passes.
source "$(dirname "$0")/../lib/ft.sh"
expect jacobi 4 --check -- "$apps/jacobi" --size 30 --edge 40
grep -q '3 checkpoint intervals were done twice' jacobi.err || fail "it does not say how often it checked"
for what in "" -DALL; do
    mpicc.openmpi $what -O2 -I "$(dirname "$tools")/include" "$programs/check_forgets.c" -o "forgets$what" "$build/lib/libreprise.a" || fail "cannot compile"
    run 60 "forgets$what" "$reprise" ft --check mpirun -n 2 "./forgets$what"
done
[ "$status" -eq 0 ] || fail "with all protected: exit status $status"
run 60 forgets "$reprise" ft --check mpirun -n 2 ./forgets
[ "$status" -eq 121 ] || fail "forgets: exit status $status instead of 121"
grep -q 'byte [0-9]* of the protected state 0' forgets.err || fail "it does not say where"
