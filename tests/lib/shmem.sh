# SPDX-License-Identifier: MIT
# For tests of OpenSHMEM programs: its launcher and our library for it, or no test.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v oshrun >/dev/null && [ -d "$build/tests/shmem" ] || { echo "skipped: no OpenSHMEM here"; exit 77; }

case ${openmpi_version%%.*} in [6-9]*) echo "skipped: OpenSHMEM of Open MPI 6 finds static data otherwise, and is refused"; exit 77 ;; esac

# SECONDS PE RUN [COMMAND...]: it runs alone, and does what it did
alone() {
    local limit=$1 pe=$2 run=$3
    shift 3
    run "$limit" solo "$reprise" solo -r "$pe" "$run" "$@"
    [ "$status" -eq 0 ] || fail "PE $pe alone: exit status $status"
    grep -q "rank $pe replayed alone: .*: identical\$" solo.err || fail "PE $pe alone: not identical"
}
