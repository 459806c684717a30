# SPDX-License-Identifier: MIT
# Shared by the test scripts: where things are, how ranks are started, and what a failure says.
set -u
build=${REPRISE_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../build" && pwd)}
reprise=$build/bin/reprise
[ ! -d "$build/tests/bin" ] || PATH=$build/tests/bin:$PATH # mpicc.NAME and mpirun.NAME of MPIs that are elsewhere
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_pml=ob1 # which it chooses anyhow, after it has tried those of networks: a fifth of its start
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_orte_allowed_exit_without_sync=1 # where processors are scarce, its launcher misses that ranks called MPI_Finalize, ends the job for that, and makes those still in there crash: natively in one of 50 runs
openmpi_version=$(sed -n 's/^version //p' "$build"/lib/reprise/openmpi*/mpi 2>/dev/null | head -n 1)
case $openmpi_version in # more ranks than processors, for launchers of PRRTE
5.*) export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
     export OMPI_MCA_btl_tcp_if_include=lo ;; # with two families of addresses it finds no way from a rank to those it spawns, and says so at each start
[6-9]*) export PRTE_MCA_mapby=:oversubscribe PRTE_MCA_bindto=none
        export OMPI_MCA_btl=^ofi              # a second of each start, for networks that are not used
        export UCX_MEM_MMAP_HOOK_MODE=none ;; # and 50 ms for each function of libc that UCX 1.20 patches; with the older UCX beside the older MPIs the tests run patched
esac
export UCX_LOG_LEVEL=error # its warning of a message that a program leaves unreceived has a time and an address in it
for name in $(compgen -e REPRISE_); do [ "$name" = REPRISE_BUILD ] || unset "$name"; done
unset REPRISE_BUILD
work=$(mktemp -d "${TMPDIR:-/tmp}/reprise-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_MCA_orte_tmpdir_base=$work # jobs that start and end at one time take the common directory from each other
export PRTE_MCA_prte_tmpdir_base=$work # what a killed job left there stops a later one whose launcher has the same process id
programs=$(cd "$(dirname "$0")" && pwd)/programs # of this test
cd "$work" || exit 1

fail() {
    echo "FAILED: $*" >&2
    for file in "$work"/*.out "$work"/*.err; do
        [ -s "$file" ] && { echo "--- ${file##*/}" >&2; tail -n 30 "$file" >&2; }
    done
    cat "$work"/*.stacks >&2 2>/dev/null
    exit 1
}

# Where TEST_ABI names an MPI (openmpi, mpich), programs of the standard ABI run with that one: `use_abi` has the loader find its library.
use_abi() { # MPI
    local library file
    library=$(sed -n 's/^library //p' "$build/lib/reprise/abi/mpi")
    file=$(ls "$(dirname "$library")/libmpi_abi_$1.so".*.* 2>/dev/null | head -n 1)
    [ -n "$file" ] && command -v "mpirun.$1" >/dev/null || return 1
    mkdir -p "$work/abi.$1"
    ln -sf "$file" "$work/abi.$1/libmpi_abi.so.1"
    export LD_LIBRARY_PATH=$work/abi.$1 TEST_ABI=$1
}
[ -z "${TEST_ABI:-}" ] || use_abi "$TEST_ABI" || { echo "skipped: no standard ABI of $TEST_ABI"; exit 77; }

launcher() { # MPI RANKS: sets the array `launch`
    local mpi=$1
    [ "$1" != abi ] || mpi=${TEST_ABI:-abi}
    launch=("mpirun.$mpi" -n "$2")
    command -v "${launch[0]}" >/dev/null || fail "no launcher for $1"
}

# SECONDS COMMAND...: where the MPI itself cannot run it, the test skips. For what some MPIs have and cannot do.
skip_unless_native() {
    local status=0
    timeout -k 5 "$1" "${@:2}" >"$work/native.out" 2>"$work/native.err" </dev/null || status=$?
    [ "$status" -ne 0 ] || return 0
    [ "$status" -ne 124 ] || status="no end after $1 s"
    echo "skipped: without reprise, too, it fails with this MPI: $status"
    exit 77
}

# MPI STATUS: the job ended with that status, as a rank said that ends it.
ended_with() {
    [ "$status" -ne "$2" ] || return 0
    grep -qs '^version \(4\.2\|5\)\.' "$build/lib/reprise/$1/mpi" && { [ "$1-$status" = mpich-9 ] || [ "$1-$status" = mpich-0 ]; } # its launcher says now and then how it ended the others, or nothing
}

descendants() {
    local child
    for child in $(pgrep -P "$1"); do descendants "$child"; echo "$child"; done
}

# SECONDS NAME COMMAND...: output in NAME.out and NAME.err, status in $status. A time-out shows every process's stack.
# run, of what ends with an error and makes this record, or "": again where the launcher says that it did not. That of MPICH 4.2 returns 0 in 3 of 100
# runs whose rank ended by one, also without reprise.
run_failing() { # RECORD LIMIT NAME COMMAND...
    local record=$1 try
    shift
    for try in 1 2 3; do
        [ -z "$record" ] || rm -rf "$record"
        run "$@"
        [ "$status" -eq 0 ] || return 0
    done
}

run() {
    local name=$2 try
    for try in 1 2 3; do
        run_once "$@" && return
        [ -s "$work/unread" ] || break
        echo "again: the launcher did not read what a process had sent to it"
    done
    fail "$name: no end after $1 s: ${*:3}"
}

run_once() {
    local limit=$1 name=$2 pid alarm ended
    shift 2
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    pid=$!
    sleep "$limit" >/dev/null 2>&1 &
    alarm=$!
    wait -n -p ended "$pid" "$alarm"
    status=$?
    [ "$ended" = "$pid" ] || { give_up "$name" "$pid"; return 1; }
    kill -KILL "$alarm" 2>/dev/null # one that does not yet sleep would do what the trap at the end of this script says
    wait "$alarm" 2>/dev/null
    return 0
}

give_up() { # NAME PID
    local child all
    all=$(descendants "$2")
    unread_by $all >"$work/unread"
    for child in $all; do
        echo "stack of process $child ($(tr '\0' ' ' <"/proc/$child/cmdline" | cut -c1-80))"
        timeout 20 gdb -q -batch -ex 'thread apply all bt' -p "$child" 2>/dev/null | grep -E '^(#|Thread)' | head -120 | cut -c1-200
    done >"$work/$1.stacks"
    kill -KILL $all "$2" 2>/dev/null
    wait "$2" 2>/dev/null
}

# PID...: the connections on which data, or the end, waits for a launcher among them. PMIx of before October 2026 does not poll the connection of a process that comes while others end, if it has the descriptor of theirs (openpmix pull request 4279), and the process waits in PMIx_Init.
unread_by() {
    local pid inode
    for inode in $(awk '($4 == "01" && $5 !~ /:0*$/) || $4 == "08" { print $10 }' /proc/net/tcp); do
        for pid in "$@"; do
            grep -qsE '^(mpirun|prterun)' "/proc/$pid/comm" && ls -l "/proc/$pid/fd" 2>/dev/null | grep -F "socket:[$inode]"
        done
    done
}

# FILE KEY: the values of all lines `// KEY: VALUE` (or `! KEY: VALUE`, `# KEY: VALUE`) of a test's source. A line that is indented behind the mark goes on with the one before.
headers() {
    awk -v key="$2" '
        $0 ~ "^(//|!|#) " key ":?( |$)" { if (found) print value; found = inside = 1; value = $0; sub("^(//|!|#) " key ":? *", "", value); next }
        inside && /^(\/\/|!|#)     [^ ]/ { sub("^(//|!|#) +", ""); value = value " " $0; next }
        { inside = 0 }
        END { if (found) print value }' "$1"
}

refuses() { # STATUS TEXT COMMAND...: it ends so, and says that
    local wanted=$1 text=$2 try
    shift 2
    for try in 1 2 3 4 5 6 7 8; do
        run 60 refused "$@"
        # Natively, too: it dies of SIGPIPE when its processes end at once (23 of 150 runs on a loaded machine); that of MPICH 4.2 says 9 where all ranks end with 3 (4 of 12 runs).
        { [ "$status" -eq 141 ] || [ "$status" -eq 9 ]; } && [[ $* = *mpirun.mpich* ]] || break
    done
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, not $wanted"
    grep -q -- "$text" "$work/refused.err" || fail "$*: '$text' is not said"
}

damage() { # FILE PLACE: that byte becomes another
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %03o $((byte ^ 85)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

line_of() { # NAME SOURCE: the number of the line with /* NAME */
    local line
    line=$(grep -nF "/* $1 */" "$2" | cut -d: -f1)
    echo "${line:-nowhere}"
    [ -n "$line" ] || fail "$2 has no place $1"
}

put_places() { # SOURCE: in $words, {NAME} becomes the place of the line with /* NAME */
    local line
    while [[ $words =~ \{([a-z0-9_]+)\} ]]; do
        line=$(line_of "${BASH_REMATCH[1]}" "$1") || exit 1
        words=${words//"{${BASH_REMATCH[1]}}"/$(basename "$1"):$line}
    done
}

tells_deadlock() { # SOURCE COMMAND...: of the program, with all lines `// says:` of its source
    local source_file=$1 words
    shift
    run 60 deadlock "$@"
    [ "$status" -eq 119 ] || fail "$*: exit status $status, not 119"
    [ "$(grep -c 'error: deadlock' "$work/deadlock.err")" -eq 1 ] || fail "$*: deadlock is not said once"
    while read -r words; do
        put_places "$source_file"
        grep -qF -- "$words" "$work/deadlock.err" || fail "$*: '$words' is not said"
    done < <(headers "$source_file" says)
}

tells_error() { # SOURCE CASE COMMAND...: 'STATUS ARGUMENTS: WORDS' as tests/runners/mismatch has it
    local wanted=${2%% *} arguments words
    arguments=${2#* }
    words=${arguments#*:} arguments=${arguments%%:*} words=${words# }
    put_places "$1"
    run 60 error "${@:3}" $arguments
    grep -q '^SKIP' "$work/error.out" && return
    [ "$status" -eq "$wanted" ] || grep -q 'being freed has .* unmatched message' "$work/error.err" || # MPICH 4.2 ends such a job in MPI_Finalize
        fail "$arguments: exit status $status, not $wanted"
    if [ -n "$words" ]; then
        [ "$(grep -cF -- "$words" "$work/error.err")" -eq 1 ] || fail "$arguments: '$words' is not said once"
    else
        ! grep -q '^reprise:' "$work/error.err" || fail "$arguments: $(grep '^reprise:' "$work/error.err")"
    fi
}

result() { grep -h '^RESULT' "$work/$1.out" | tail -n 1; }
