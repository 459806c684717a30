# SPDX-License-Identifier: MIT
# OpenSHMEM programs on the command line: some PEs recorded, others not; how they end; what is refused, by name; records that are damaged, or of another program.
[ "$1" = openmpi ] || { echo "skipped: for openmpi only"; exit 77; }
source "$(dirname "$0")/../lib/shmem.sh"
programs=$build/tests/shmem
ends=$programs/osh_ends

# A set of one: the others are not looked at.
run 60 record "$reprise" record --ranks 1 -o one oshrun -n 4 "$programs/osh_atomics"
[ "$status" -eq 0 ] || fail "record: exit status $status"
alone 60 1 one
[ "$(grep '^rank 1:' solo.out)" = "$(grep '^rank 1:' record.out)" ] || fail "PE 1 alone says something else"
run 60 solo "$reprise" solo -r 2 one
[ "$status" -eq 120 ] && grep -q 'rank 2' solo.err || fail "a PE that was not recorded: exit status $status"
run 60 solo "$reprise" solo -r 1 one -- "$programs/osh_locks"
[ "$status" -ne 0 ] && grep -q 'not the program that was recorded' solo.err || fail "another program: exit status $status"
run 60 solo "$reprise" solo -r 1 --force one -- "$programs/osh_locks"
[ "$status" -eq 121 ] && grep -q 'not the recorded run' solo.err || fail "another program, forced: exit status $status"

# Who reads what others wrote after barriers only may say so; all at once, by replay.
run 60 late "$reprise" record --ranks all --allow shmem_late -o late oshrun -n 2 "$ends"
[ "$status" -eq 0 ] || fail "shmem_late: exit status $status"
run 60 replay "$reprise" replay late
[ "$status" -eq 0 ] && [ "$(sort replay.out)" = "$(sort late.out)" ] || fail "replay of all: exit status $status"

# Damage is told, not replayed.
cp -r one damaged
python3 - damaged/rank-00001.data <<'END'
import sys
bytes = bytearray(open(sys.argv[1], "rb").read())
bytes[len(bytes) // 2] ^= 0x55
open(sys.argv[1], "wb").write(bytes)
END
run 60 solo "$reprise" solo -r 1 damaged
[ "$status" -eq 122 ] || fail "a damaged log: exit status $status"

# The end, and what is refused by name. Launchers take their time to end a job that ends badly: all at once.
later() { # NAME COMMAND...
    local name=$1
    shift
    mkdir "session.$name" # one for all would be made, and removed, by several launchers at once
    (OMPI_MCA_orte_tmpdir_base=$work/session.$name timeout 60 "$@" >"$name.out" 2>"$name.err" </dev/null; echo $? >"$name.status") &
}
later status "$reprise" record --ranks 0 -o status oshrun -n 2 "$ends" status
later global "$reprise" record --ranks all -o global oshrun -n 2 "$ends" global
later crash "$reprise" record --ranks 1 -o crash oshrun -n 2 "$ends" crash
later refused "$reprise" record -o refused oshrun -n 2 "$ends"
later threads "$reprise" record --ranks all -o threads oshrun -n 2 "$programs/osh_threads"
wait
[ "$(<status.status)" -eq 4 ] || fail "exit status $(<status.status) instead of 4"
run 60 solo "$reprise" solo -r 0 status
[ "$status" -eq 4 ] && grep -q 'identical$' solo.err || fail "alone: exit status $status instead of 4"
run 60 solo "$reprise" solo -r 1 global
[ "$(<global.status)" -eq 3 ] && [ "$status" -eq 3 ] || fail "shmem_global_exit(3): exit status $(<global.status), alone $status"
[ "$(<crash.status)" -ne 0 ] || fail "a crash is not told"
run 60 solo "$reprise" solo -r 1 crash
[ "$status" -eq 139 ] && [ "$(grep '^rank 1:' solo.out)" = "$(grep '^rank 1:' crash.out)" ] || fail "PE 1 does not crash alone: exit status $status"
[ "$(<refused.status)" -eq 123 ] && grep -q 'shmem_init cannot be replayed yet in this way.*--ranks' refused.err || fail "without --ranks: exit status $(<refused.status)"
[ "$(<threads.status)" -eq 123 ] && grep -q 'shmem_long_atomic_inc was called by another thread' threads.err || fail "another thread: exit status $(<threads.status)"
run 60 det "$reprise" det oshrun -n 2 "$ends"
[ "$status" -eq 123 ] && grep -q 'OpenSHMEM' det.err || fail "det: exit status $status"
"$reprise" doctor "$ends" >doctor.out 2>doctor.err || fail "doctor"
grep -q 'OpenSHMEM.*--ranks' doctor.out || fail "doctor does not know OpenSHMEM"
echo "sets, ends, refusals and damage"
