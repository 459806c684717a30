# SPDX-License-Identifier: MIT
# Ranks on another host get the preload, whatever the launcher passes on.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
source "$(dirname "$0")/../lib/hosts.sh"
need_both_hosts "$mpi"
"mpicc.$mpi" -o where "$programs/two_hosts_where.c" || fail "it does not compile"

run 60 record "${there[@]}" "$reprise" record -o outside "${spread[@]}" ./where
[ "$status" -eq 0 ] || fail "record: exit status $status"
grep -q "recorded [1-9][0-9]* events on 4 ranks" "$work/record.err" || fail "record"
grep -q "rank 3 is on $host_b" "$work/record.out" || fail "not on two hosts"
run 60 replay "${there[@]}" "$reprise" replay outside
[ "$status" -eq 0 ] || fail "replay: exit status $status"
[ "$(result replay)" = "$(result record)" ] || fail "another result"
grep -q 'identical$' "$work/replay.err" || fail "not identical"

run 60 record "${there[@]}" "${spread[@]}" "$reprise" record -o "$work/inside" ./where
[ "$status" -eq 0 ] || fail "record inside: exit status $status"
run 60 replay "${there[@]}" "${spread[@]}" "$reprise" replay "$work/inside" ./where
[ "$status" -eq 0 ] || fail "replay inside: exit status $status"
[ "$(result replay)" = "$(result record)" ] || fail "another result inside"
