# SPDX-License-Identifier: MIT
# Checkpoints in files: the job ends for want of spares and begins again; damaged files, and what is no file, are not used, an earlier run's are not overwritten; the best interval is told.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 40 --edge 40)
expect jacobi 4 --checkpoints whole -- "${jacobi[@]}"
again() { # NAME STATUS WORDS OPTIONS...
    local name=$1 expected_status=$2 words=$3
    shift 3
    run 60 "$name" "$reprise" ft "$@" mpirun -n 4 "${jacobi[@]}"
    [ "$status" -eq "$expected_status" ] || fail "$name: exit status $status instead of $expected_status"
    grep -q -- "$words" "$name.err" || fail "$name: does not say '$words'"
}
again dies 125 "with --restart" --spares 0 --checkpoints files --kill 2@25:3
ls files/rank-00003.2.checkpoint >/dev/null || fail "no file of the second checkpoint in the loop"
again refused 120 "of an earlier run" --checkpoints files
[ -z "$(find files whole \( -type d ! -perm 700 \) -o \( -type f ! -perm 600 \))" ] || fail "checkpoints are not private: $(ls -l files)"
cp -r files special
rm special/rank-00001.2.checkpoint && mkfifo special/rank-00001.2.checkpoint
cp -r files damaged
damage damaged/rank-00001.2.checkpoint 900
again restarts 0 "begins again with iteration 20" --restart --checkpoints files
[ "$(result restarts)" = "$expected" ] || fail "restarted: $(result restarts) instead of $expected"
again older 0 "begins again with iteration 10" --restart --checkpoints damaged
grep -q 'rank-00001.2.checkpoint is not used: its checksum is wrong' older.err || fail "the damaged file is not named"
[ "$(result older)" = "$expected" ] || fail "restarted from the older: $(result older) instead of $expected"
again fifo 0 "begins again with iteration 10" --restart --checkpoints special
grep -q 'rank-00001.2.checkpoint is not used: it is a FIFO' fifo.err || fail "the FIFO is not named"
rm damaged/rank-00002*
again none 122 "no checkpoint in" --restart --checkpoints damaged
again missing 120 "--checkpoints missing: there is no such directory to restart from" --restart --checkpoints missing
[ ! -e missing ] || fail "a directory to restart from was made"
mkdir empty
again empty 120 "empty has no checkpoints to restart from" --restart --checkpoints empty
again interval 0 "a checkpoint every [0-9]* iterations is best" --mtbf 100
