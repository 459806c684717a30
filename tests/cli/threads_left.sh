# SPDX-License-Identifier: MIT
# Threads that are not followed, and `record --threads`, which follows them: hints, what cannot be had together, threads that call MPI without having asked for it, launchers and `env`.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
"mpicc.$mpi" -g -O0 -pthread -o program "$programs/threads_left.c" || fail "cannot compile"
results() { grep RESULT "$1.out" | sort; }

# Not followed: the path depends on the threads, and the replay says that it may.
run 60 plain "$reprise" record --capture time -o plain "${launch[@]}" ./program
[ "$status" -eq 0 ] || fail "record: exit status $status"
grep -q "asks for the time.*'reprise record --threads' captures it" plain.err || fail "not told that values are not captured"
OTHERWISE=1 run 60 left "$reprise" replay plain
[ "$status" -eq 121 ] && grep -q "has threads whose order was not recorded: .*'reprise record --threads' records it" left.err || fail "left: exit status $status"

# Followed.
run 60 all "$reprise" record --threads --capture time -o all "${launch[@]}" ./program
[ "$status" -eq 0 ] && ! grep -q 'not captured' all.err || fail "record --threads: exit status $status"
grep -q '"threads": "all"' all/manifest.json || fail "not in the description"
OTHERWISE=1 run 60 replay "$reprise" replay all
[ "$status" -eq 0 ] && grep -q identical replay.err || fail "replay: exit status $status"
[ "$(results replay)" = "$(results all)" ] || fail "another result"
OTHERWISE=1 run 60 inside "${launch[@]}" "$reprise" replay all ./program
[ "$status" -eq 0 ] && [ "$(results inside)" = "$(results all)" ] || fail "replay inside the launcher: exit status $status"
REPRISE_THREADS=1 OTHERWISE=1 run 60 other "$reprise" replay plain
[ "$status" -eq 121 ] || fail "a setting of the replay overrules the record: exit status $status"
"$reprise" env replay all ./program | grep -q "^export REPRISE_THREADS='1'" || fail "env replay: threads are not followed"
"$reprise" env replay plain ./program | grep -q REPRISE_THREADS && fail "env replay: threads are followed"

# What cannot be had together.
for wrong in --clocks '--codec cdc'; do
    read -ra options <<<"$wrong"
    run 60 wrong "$reprise" record --threads "${options[@]}" -o wrong "${launch[@]}" ./program
    [ "$status" -eq 120 ] && grep -q '^reprise: .*--threads: ' wrong.err && [ ! -e wrong ] || fail "with $wrong: exit status $status"
done

# Threads that call MPI, for which the program did not ask.
launcher "$mpi" 3
unasked=$build/tests/mpi/$mpi/unasked_thread
run 60 refused "$reprise" record -o refused "${launch[@]}" "$unasked"
[ "$status" -eq 123 ] && grep -q "'reprise record --threads' records" refused.err || fail "unasked: exit status $status"
TEST_ORDER=up run 60 unasked "$reprise" record --threads -o unasked "${launch[@]}" "$unasked"
[ "$status" -eq 0 ] || fail "unasked, --threads: exit status $status"
TEST_ORDER=down run 60 again "$reprise" replay unasked
[ "$status" -eq 0 ] && [ -n "$(result unasked)" ] && [ "$(result again)" = "$(result unasked)" ] || fail "unasked: replay: exit status $status"
