# SPDX-License-Identifier: MIT
# Shared by the test scripts: where things are, how ranks are started, and what a failure says.
set -u
build=${REPRISE_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../build" && pwd)}
reprise=$build/bin/reprise
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
for name in $(compgen -e REPRISE_); do [ "$name" = REPRISE_BUILD ] || unset "$name"; done
unset REPRISE_BUILD
work=$(mktemp -d "${TMPDIR:-/tmp}/reprise-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_MCA_orte_tmpdir_base=$work # jobs that start and end at one time take the common directory from each other
cd "$work" || exit 1

fail() {
    echo "FAILED: $*" >&2
    for file in "$work"/*.out "$work"/*.err; do
        [ -s "$file" ] && { echo "--- ${file##*/}" >&2; tail -n 30 "$file" >&2; }
    done
    exit 1
}

launcher() { # MPI RANKS: sets the array `launch`
    case $1 in
    openmpi) launch=(mpirun.openmpi -n "$2") ;;
    mpich) launch=(mpirun.mpich -n "$2") ;;
    *) fail "no launcher for $1" ;;
    esac
}

descendants() {
    local child
    for child in $(pgrep -P "$1"); do descendants "$child"; echo "$child"; done
}

# SECONDS NAME COMMAND...: output in NAME.out and NAME.err, status in $status. A time-out dumps every rank's stack.
run() {
    local limit=$1 name=$2 pid waited=0
    shift 2
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.05
        waited=$((waited + 1))
        if [ "$waited" -gt $((limit * 20)) ]; then
            for child in $(descendants "$pid"); do
                echo "--- stack of process $child ($(tr '\0' ' ' <"/proc/$child/cmdline" | cut -c1-80))" >>"$work/$name.err"
                timeout 20 gdb -q -batch -ex 'thread apply all bt' -p "$child" 2>/dev/null | grep -E '^(#|Thread)' | head -120 >>"$work/$name.err"
            done
            kill -KILL $(descendants "$pid") "$pid" 2>/dev/null
            wait "$pid" 2>/dev/null
            fail "$name: no end after $limit s: $*"
        fi
    done
    wait "$pid"
    status=$?
}

result() { grep -h '^RESULT' "$work/$1.out" | tail -n 1; }
