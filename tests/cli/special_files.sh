# SPDX-License-Identifier: MIT
# A FIFO, a socket, a device or a directory in the place of any file of a record is refused by
# name; nothing waits for it. A link to a file is as good as the file.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
program=$build/tests/mpi/$mpi/recv_any_source
apps=$build/apps/$mpi

run 60 record "$reprise" record --ranks all -o good "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: $status"
run 60 record "$reprise" record --ranks all -o killed "${launch[@]}" "$build/tests/mpi/$mpi/segv_after"
[ -f killed/incomplete ] && [ -f killed/rank-00000.0.ring ] && [ -f killed/rank-00000.tail ] ||
    fail "nothing is left of a run that crashed"
run 100 windows "$reprise" record --ranks all -o windows "${launch[@]}" "$apps/gups"
run 100 who "$reprise" solo --who -r 0 windows
rm who.out # it is long
[ -f windows/rank-00000.order ] && [ -f windows/rank-00000.accesses ] ||
    fail "no logs of order and accesses"
run 60 tasks "$reprise" record --tasks -o tasks "${launch[@]}" "$apps/workers" --size 20 --workers 3
[ -f tasks/tasks-00000 ] || fail "record of tasks: $status"

bind='import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])'
put() { # KIND PATH
    rm -rf "$2"
    case $1 in
    FIFO) mkfifo "$2" ;;
    socket) (cd "$(dirname "$2")" && python3 -c "$bind" "$(basename "$2")") ;;
    device) ln -s /dev/zero "$2" ;;
    directory) mkdir "$2" ;;
    esac
}

look() { # RECORD FILE KIND COMMAND...: refused for that
    local record=$1 file=$2 kind=$3
    shift 3
    rm -rf other && cp -a "$record" other
    put "$kind" "other/$file"
    run_failing "" 60 looked "$@"
    [ "$status" -ne 141 ] || run_failing "" 60 looked "$@" # MPICH's launcher may die of a process that ends at once
    [ "$status" -eq 122 ] || fail "$* with a $kind as $file: exit status $status"
    grep -q -- "$file: it is a $kind" looked.err || fail "$* with a $kind as $file: not said"
}

for kind in FIFO socket device directory; do
    for file in manifest.json rank-00000.log rank-00001.log rank-00000.data; do
        look good $file $kind "$reprise" verify other
    done
    for file in incomplete rank-00000.log rank-00000.0.ring rank-00001.data rank-00001.tail; do
        look killed $file $kind "$reprise" verify other
    done
    look windows rank-00000.order $kind "$reprise" verify other
    look tasks command $kind "$reprise" verify other
    look tasks tasks-00001 $kind "$reprise" verify other
done

# Every command
for words in info 'info --json' dump 'dump --sites' 'report --format text' 'report --format json' \
    status 'export --perfetto' 'recode --codec tables -o recoded' replay 'replay --force' \
    'solo -r 0'; do
    look good manifest.json FIFO "$reprise" $words other
    look killed incomplete FIFO "$reprise" $words other
    look good rank-00000.log FIFO "$reprise" $words other
    rm -rf recoded
done
for file in manifest.json rank-00001.log; do
    look good $file FIFO "$reprise" diff good other
    look good $file FIFO "$reprise" diff other good
    look good $file FIFO "${launch[@]}" "$reprise" replay other "$program"
    look good $file FIFO "$reprise" replay other -- "${launch[@]}" "$program"
done
look good manifest.json FIFO "$reprise" env replay other "$program"
look good rank-00000.data FIFO "$reprise" solo -r 0 other
look killed rank-00000.tail FIFO "$reprise" solo -r 0 other
for words in info verify replay; do
    look tasks command FIFO "$reprise" $words other
    look tasks tasks-00001 FIFO "$reprise" $words other
done
look windows rank-00000.accesses FIFO "$reprise" dump --who other

# The state of a replay that somebody put there is none.
rm -rf other && cp -a good other && mkfifo other/replay-1.state
run 20 status "$reprise" status other
[ "$status" -eq 0 ] || fail "status, with a FIFO as state of a replay: $status"

# What is named on the command line
mkdir digests events && mkfifo costs digests/decisions events/events.jsonl
refuses 122 'costs: it is a FIFO' "$reprise" det --costs costs "${launch[@]}" "$program"
refuses 122 'decisions: it is a FIFO' "$reprise" diff digests digests
refuses 122 'events.jsonl: it is a FIFO' "$reprise" report --format text events

# A program that is none any more: places without lines, but no waiting
cp "$program" away
run 60 away "$reprise" record -o away_run "${launch[@]}" ./away
rm away && mkfifo away
run 20 sites "$reprise" dump --sites away_run
[ "$status" -eq 0 ] || fail "dump --sites, with a FIFO as program: $status"
run 20 refused "$reprise" doctor ./away
[ "$status" -eq 120 ] || fail "doctor, with a FIFO as program: $status"

rm -rf other && cp -a good other && mv other/rank-00000.log other/manifest.json "$work"
ln -s "$work/rank-00000.log" "$work/manifest.json" other
run 60 link "$reprise" verify other
[ "$status" -eq 0 ] || fail "verify, with links to files: $status"
run 60 link "$reprise" replay other
[ "$status" -eq 0 ] || fail "replay, with links to files: $status"
exit 0
