# SPDX-License-Identifier: MIT
# Records, and what is made of them, are for their owner alone, whatever the umask allows. --no-
# environment leaves variables out, and a replay takes those that it is started with.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
program=$build/tests/mpi/$mpi/recv_any_source
apps=$build/apps/$mpi

is_private() { # WHAT PATH...: all that is there is
    local what=$1 wrong
    shift
    [ -n "$(find "$@" -type f | head -n 1)" ] || fail "$what: nothing is there"
    wrong=$(find "$@" \( -type d ! -perm 700 \) -o \( -type f ! -perm 600 \))
    [ -z "$wrong" ] || fail "$what: $(ls -ld $wrong)"
}

umask 0
run 60 record "$reprise" record "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: $status"
is_private "record" .reprise
mkdir mine && chmod 755 mine
run 60 record "$reprise" record --ranks all --timestamps --clocks -o mine "${launch[@]}" "$program"
[ "$status" -eq 120 ] || fail "--ranks with --clocks: $status"
run 60 record "$reprise" record --ranks all --timestamps -o mine "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record -o: $status"
is_private "record -o, of an empty directory" mine
run 60 record "$reprise" record --ranks all -o deep/er/killed "${launch[@]}" "$build/tests/mpi/$mpi/segv_after"
[ -f deep/er/killed/incomplete ] && ls deep/er/killed/*.ring deep/er/killed/*.tail >/dev/null ||
    fail "nothing is left of a run that crashed"
is_private "a run that crashed" deep/er/killed
run 60 inside "${launch[@]}" "$reprise" record -o inside "$program"
[ "$status" -eq 0 ] || fail "record inside: $status"
is_private "record inside" inside
run 60 rows "$reprise" record --codec cdc -o rows "${launch[@]}" "$program"
is_private "rows" rows
run 100 windows "$reprise" record --ranks all -o windows "${launch[@]}" "$apps/gups"
[ "$status" -eq 0 ] || fail "record of windows: $status"
run 100 who "$reprise" solo --who -r 0 windows
is_private "windows, and who wrote" windows
run 60 tasks "$reprise" record --tasks -o tasks "${launch[@]}" "$apps/workers" --size 20 --workers 3
is_private "tasks" tasks

run 100 stress "$reprise" stress --runs 2 -o stressed "${launch[@]}" "$program"
is_private "stress" stressed
run 60 det "$reprise" det --check -o digests "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "det: $status"
is_private "det" digests
run 60 recode "$reprise" recode --codec tables -o recoded mine
is_private "recode" recoded
run 60 page "$reprise" report -o page.html mine
run 60 text "$reprise" report -o page.txt mine
run 60 json "$reprise" report -o page.json mine
run 60 trace "$reprise" export --perfetto -o trace.json mine
is_private "report and export" page.html page.txt page.json trace.json
run 60 otf2 "$reprise" export --otf2 otf2 mine
[ "$status" -ne 0 ] || is_private "OTF2" otf2
run 60 difference "$reprise" diff -o difference.html mine inside
is_private "diff" difference.html

# What is there before, and a umask that takes more away, stay as they are.
mkdir base && chmod 750 base
REPRISE_DIR=$work/base run 60 record "$reprise" record "${launch[@]}" "$program"
[ "$(stat -c %a base)" = 750 ] && is_private "record in a base" base/recv* ||
    fail "the mode of a base was changed: $(stat -c %a base)"
[ "$(stat -c %a deep)$(stat -c %a deep/er)" = 777777 ] ||
    fail "directories above a record have other modes than the umask says"
umask 077
run 60 record "$reprise" record -o strict "${launch[@]}" "$program"
is_private "umask 077" strict
umask 022

# Variables
"mpicc.$mpi" -o shows "$programs/private_records_shows.c" || fail "mpicc.$mpi"
secret=mysql://user:hush4711@host
for order in outside inside; do
    for kept in '' --no-environment; do
        rm -rf log
        words=("$reprise" record $kept --ranks all -o log "${launch[@]}" ./shows)
        [ $order = inside ] && words=("${launch[@]}" "$reprise" record $kept --ranks all -o log ./shows)
        DBURL=$secret A_TOKEN=hush42 run 60 record "${words[@]}"
        [ "$status" -eq 0 ] || fail "record $kept, $order: $status"
        DBURL=other A_TOKEN=now run 60 alone "$reprise" solo -r 0 log
        [ "$status" -eq 0 ] || fail "solo, recorded $kept, $order: $status"
        if [ -z "$kept" ]; then
            [ $order = inside ] || grep -q "DBURL=$secret" log/manifest.json ||
                fail "DBURL is not in the record"
            grep -q "rank 0 DBURL=$secret A_TOKEN=now" alone.out ||
                fail "solo has not what was recorded, and what is never recorded: $(cat alone.out)"
        else
            grep -rq 'hush\|"environment"' log && fail "$order: the record has a variable"
            grep -q "rank 0 DBURL=other A_TOKEN=now" alone.out ||
                fail "$order: solo has not what it was started with: $(cat alone.out)"
        fi
        [ $order = outside ] || continue
        run 60 again "$reprise" replay log
        [ "$status" -eq 0 ] || fail "replay, recorded $kept: $status"
        if [ -z "$kept" ]; then
            grep -q "rank 1 DBURL=$secret" again.out || fail "the replay has not what was recorded"
        else
            grep -q "rank 1 DBURL= A_TOKEN=" again.out ||
                fail "the replay has what was not recorded"
            DBURL=third run 60 third "$reprise" replay log
            grep -q "rank 1 DBURL=third" third.out ||
                fail "the replay has not what it was started with"
        fi
    done
done
exit 0
