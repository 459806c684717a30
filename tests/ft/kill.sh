# SPDX-License-Identifier: MIT
# One rank dies: any of them, at the beginning and the end of a checkpoint interval, in any phase of an iteration, in the setup and behind the loop. The others go on; the result is the same.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 30 --edge 40)
expect jacobi 4 --interval 10 -- "${jacobi[@]}"
run 60 native env LD_LIBRARY_PATH="$REPRISE_ULFM/lib" "$REPRISE_ULFM/bin/mpirun" --oversubscribe -n 4 "${jacobi[@]}"
[ "$(result native)" = "$expected" ] || fail "without failures: $expected, without reprise: $(result native)"
for kill in 0@0 1@10 2@19:3 3@11:1 0@setup:4 2@30:2; do
    survive "jacobi-$kill" 1 4 --interval 10 --kill "$kill" -- "${jacobi[@]}"
done
cg=("$apps/cg" --class 1) # which verifies that zeta is the published one
expect cg 2 --interval 3 -- "${cg[@]}"
[[ $expected == *zeta=8.5971775078* && $expected == *checked=nas* ]] || fail "without failures: $expected"
for kill in 0@4:37 1@2; do
    survive "cg-$kill" 1 2 --interval 3 --kill "$kill" -- "${cg[@]}"
done
