# SPDX-License-Identifier: MIT
# Environment variables that were set for the recorded command are set for its replay.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
[ "$mpi" != abi ] || { echo "skipped: its launcher does not say which MPI a script uses"; exit 77; }
program=$build/apps/$mpi/polls
command=(sh -c "exec '$program' --size \"\$ROUNDS\"")

ROUNDS=40 A_TOKEN=hushhush SLURM_PROCID=7 SPACE='a  b=c' BYTES=$'\xff' run 60 record "$reprise" record -o log "${launch[@]}" "${command[@]}"
[ "$status" -eq 0 ] && [ -n "$(result record)" ] || fail "record: $status"
grep -q '"ROUNDS=40"' log/manifest.json || fail "ROUNDS is not in the record"
grep -q 'hushhush\|SLURM_PROCID=\|REPRISE_VARIABLES=' log/manifest.json && fail "the record has what is not to be in it"

run 60 again "$reprise" replay log
[ "$status" -eq 0 ] && [ "$(result again)" = "$(result record)" ] || fail "the replay has not what was set: $status"
ROUNDS=40 run 60 same "$reprise" replay log
[ "$status" -eq 0 ] && [ "$(result same)" = "$(result record)" ] || fail "the replay with the same: $status"

# What is set now stays.
ROUNDS=30 NEWLY=1 run 60 other "$reprise" replay log
[ "$status" -eq 121 ] || fail "the replay with another value: $status"
grep -q "ROUNDS is '30', and was '40' in the recording" "$work/other.err" || fail "the other value is not told"
grep -q "NEWLY is '1', and was not set in the recording" "$work/other.err" || fail "the new variable is not told"
grep -q "SPACE\|BYTES\|A_TOKEN" "$work/other.err" && fail "told is what does not differ"

# Ranks see what was set, whole; bytes that are no text are left out rather than changed.
printf '#!/bin/sh\nenv >"seen.$$"\nexec "%s" --size 5\n' "$program" >script.sh
chmod +x script.sh
SPACE='a  b=c' BYTES=$'\xff' run 60 script "$reprise" record -o log2 "${launch[@]}" ./script.sh
[ "$status" -eq 0 ] || fail "record of a script: $status"
rm -f seen.*
run 60 script_again "$reprise" replay log2
[ "$status" -eq 0 ] || fail "replay of a script: $status"
for file in seen.*; do
    grep -qx 'SPACE=a  b=c' "$file" || fail "SPACE is not what it was"
    grep -q '^BYTES=' "$file" && fail "BYTES is set, though its value could not be kept"
done

# A record inside a launcher knows nothing of whoever started that.
ROUNDS=40 run 60 inside "${launch[@]}" "$reprise" record -o log3 "${command[@]}"
[ "$status" -eq 0 ] || fail "record inside: $status"
grep -q '"environment"' log3/manifest.json && fail "a record inside a launcher has an environment"
exit 0
