# SPDX-License-Identifier: MIT
# Names of programs, files, communicators and variables may hold anything: nothing that a
# terminal obeys, and no line of theirs, comes out of any command. JSON stays JSON. Plain UTF-8
# stays readable.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
evil=$'ev\e[31mil\e]0;t\a\x7f\xc2\x9b2J\xe2\x80\xae\r\nreprise: forged-\xc3\xa9'
bytes=$'\x9b2J\xff' # no text: a record does not keep such a path as it is
folder="$work/in $evil"
mkdir "$folder" || fail "mkdir"
"mpicc.$mpi" -g -O0 -o named "$programs/raw_text_named.c" || fail "mpicc.$mpi"
cp named "$folder/$evil"
program="$folder/$evil"
cd "$folder" || fail "cd"

obeyed='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|\xff|[^\xc2-\xf4\x80-\xbf]\x9b'
looks() { # NAME: what it wrote can be shown, but for what the program itself wrote
    local file
    for file in "$work/$1.out" "$work/$1.err"; do
        ! LC_ALL=C grep -aqP "$obeyed" "$file" ||
            fail "$1: a terminal would obey what is in ${file##*.}: $(cat -v "$file")"
        ! LC_ALL=C grep -aq '^reprise: forged' "$file" ||
            fail "$1: a line is forged: $(cat -v "$file")"
    done
}
try() { # STATUS COMMAND...
    local wanted=$1
    shift
    run 60 tried "$@"
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, not $wanted"
    looks tried
}
is_json() {
    python3 - "$work/tried.out" "$1" <<'END' || fail "not JSON"
import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
for part in text.splitlines() if sys.argv[2] == "lines" else [text]:
    json.loads(part)
END
}
export EVIL=$evil

cp "$work/named" "$folder/$bytes"
try 0 "$reprise" doctor "$folder/$bytes"
try 0 "$reprise" doctor "$program"
grep -q 'forged-é' "$work/tried.out" || fail "doctor: é is not readable"
grep -qF '\x1b[31m' "$work/tried.out" || fail "doctor: the escape is not shown"
try 0 "$reprise" record --ranks all --timestamps -o "$evil.run" "${launch[@]}" "$program" "$evil$bytes"
log="$folder/$evil.run"
try 0 "$reprise" info "$log"
grep -q 'forged-é' "$work/tried.out" || fail "info: é is not readable"
try 0 "$reprise" info --json "$log"
is_json whole
try 0 "$reprise" verify "$log"
try 0 "$reprise" status "$log"
try 0 "$reprise" status --json "$log"
is_json whole
try 0 "$reprise" report --format text "$log"
try 0 "$reprise" report --format json "$log"
is_json whole
try 0 "$reprise" report -o "$evil.html" "$log"
try 0 "$reprise" dump "$log"
[ ! -e /usr/lib/*/libdw.so.1 ] || grep -qF 'li\x1b[32mne' "$work/tried.out" ||
    fail "dump: the file's name is not there"
try 0 "$reprise" dump --sites "$log"
try 0 "$reprise" dump --json "$log"
is_json lines
try 0 "$reprise" export --perfetto "$log"
is_json whole
try 0 "$reprise" recode --codec tables -o "$evil.tables" "$log"
try 0 "$reprise" diff "$log" "$evil.tables"
try 0 "$reprise" replay "$log"
try 0 "$reprise" solo -r 0 "$log"
try 0 "$reprise" env replay "$log" "$program"
(eval "$(cat "$work/tried.out")"; [ "$REPRISE_RUN" = "$log" ]) ||
    fail "env: not what it was, after a shell has read it"

run 60 crashed "$reprise" record -o crashed "${launch[@]}" "$program" crash
# MPI and its launcher write names as they are.
grep -a '^reprise:\( error\| rank\|  *rank\| recorded\)' "$work/crashed.err" >"$work/ours.err"
: >"$work/ours.out"
looks ours
try 0 "$reprise" info crashed
[ -e crashed ] || fail "nothing was recorded of a run that crashed"
run 60 differs "$reprise" diff "$log" crashed
looks differs

# Errors
try 120 "$reprise" info "$evil$bytes-none"
try 120 "$reprise" "$evil"
try 120 "$reprise" info "--$evil"
try 120 "$reprise" record "./$evil-none"
try 120 "$reprise" record --codec "$evil" "${launch[@]}" "$program"
try 120 "$reprise" replay --at-end "$evil"
try 120 "$reprise" doctor "$evil-none"
try 120 "$reprise" algebra "$evil"
try 120 env "REPRISE_$evil=1" "$reprise" info
rm -rf broken && cp -a "$log" "$evil.broken" && : >"$evil.broken/rank-00000.log"
try 122 "$reprise" verify "$evil.broken"
try 122 "$reprise" info "$evil.broken"
printf 'reprise costs 1\n%s 3\n' "${evil%%$'\n'*}" >"$evil.costs"
try 120 "$reprise" det --costs "$evil.costs" "${launch[@]}" "$program"

# Names of communicators: whoever waits on one
run 60 deadlock "$reprise" det "${launch[@]}" "$program" hang
grep -a '^reprise: error\|^reprise: rank\|^  rank' "$work/deadlock.err" >"$work/ours.err"
grep -qF 'on ev\x1b[31mil' "$work/ours.err" ||
    fail "det: the communicator is not named: $(cat -v "$work/deadlock.err")"
looks ours
run 100 stress "$reprise" stress --runs 1 --timeout 5 -o stressed "${launch[@]}" "$program" hang
grep -qF 'on ev\x1b[31mil' "$work/stress.out" ||
    fail "stress: the communicator is not named: $(cat -v "$work/stress.out")"
looks stress
exit 0
