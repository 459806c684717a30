# SPDX-License-Identifier: MIT
# A program of tasks that breaks the rule of `ready`: a halo may come before or after the task's own `go`, which makes a difference, while halos commute with each other. A shuffled replay names both entries, and nothing else. With the right `ready` it is identical.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"mpicc.$mpi" -I"$source/include" -o halo "$programs/task_ready_halo.c" -L"$build/lib/reprise/$mpi" -lreprise-tasks || fail "not compiled"
launcher "$mpi" 3

run 60 record "$reprise" record --tasks -o wrong "${launch[@]}" ./halo
[ "$status" -eq 0 ] || fail "record: exit status $status"
run 240 shuffled env REPRISE_SHUFFLE=3 "$reprise" replay --shuffle wrong
[ "$status" -eq 121 ] && grep -q "error: entries 'go' and 'halo' of node do not commute: which of them comes first changes the result" shuffled.err || fail "shuffled: exit status $status"
[ "$(grep -c 'do not commute:' shuffled.err)" -eq 1 ] || fail "something else is named, too"
[ -z "$(ls -d wrong/shuffle* 2>/dev/null)" ] || fail "something is left in the record"

run 60 record "$reprise" record --tasks -o right "${launch[@]}" ./halo right
run 60 shuffled env REPRISE_SHUFFLE=3 "$reprise" replay --shuffle right
[ "$status" -eq 0 ] && grep -q ': identical' shuffled.err || fail "shuffled, with the right 'ready': exit status $status"
