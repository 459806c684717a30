# SPDX-License-Identifier: MIT
# Programs of tests/mpi/crash, recorded by cdc and replayed by clocks, most of them on one MPI: they come to the same point and say so. (matched_not_completed looks at what a receive took that it never completed: docs/model.md.)
tests=$(cd "$(dirname "$0")/.." && pwd)
case $1 in
openmpi) programs="abort_after exit_code fatal_error segv_after" ;;
*) programs="exit_without_finalize peer_aborts two_tags" ;;
esac
for name in deadlock kill_after $programs; do
    TEST_CODEC=cdc "$tests/runners/crash" "$tests/mpi/crash/$name.c" "$1" || exit 1
done
