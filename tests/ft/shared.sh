# SPDX-License-Identifier: MIT
# Long messages, which receivers read in the sender's log: right for every way to receive them, with ranks that die in the middle, with a capacity, and where the log cannot be mapped.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/shared.c" -o shared "$build/lib/libreprise.a" || fail "cannot compile"
expect reference 4 --interval 4 -- ./shared
for call in ${TEST_CALLS:-2 6 7 8 9 11}; do
    survive "call-$call" 1 4 --interval 4 --kill "$((call % 4))@$((3 + call % 7)):$call" -- ./shared
done
survive again 2 4 --interval 4 --spares 2 --kill 1@5:8,2@6:6 -- ./shared
survive in-the-setup 3 4 --interval 4 --spares 3 --checkpoints files --kill 1@5:8,2@5:9,3@6:2 -- ./shared
survive all-back 1 4 --interval 4 --capacity 3M --kill 2@7:8 -- ./shared
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
expect three 3 --interval 80 -- ./shared
grep -q '^MAPS first=[1-9].* later=[1-9].* own=[1-9]' three.out || fail "receivers do not read logs of others"
survive tight 0 3 --interval 80 -- ./shared tight
grep -q '^MAPS first=[1-9].* later=0 own=[1-9]' tight.out || fail "nothing had to be declined"
survive tight-and-killed 1 3 --interval 80 --kill 1@70:7 -- ./shared tight
run 100 hold "$reprise" ft --interval 2 mpirun -n 2 ./shared hold
[ "$status" -eq 123 ] && grep -q 'iteration 3 ends with a message that a matched probe found and that was not received' hold.err || fail "a held message at the end of an iteration: status $status"
