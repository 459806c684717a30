# SPDX-License-Identifier: MIT
# Programs of tests/mpi/crash, recorded by cdc and replayed by clocks: they come to the same point and say so. (matched_not_completed looks at what a receive took that it never completed: docs/model.md.)
tests=$(cd "$(dirname "$0")/.." && pwd)
for name in abort_after deadlock exit_code exit_without_finalize fatal_error kill_after peer_aborts segv_after two_tags; do
    TEST_CODEC=cdc "$tests/run-crash" "$tests/mpi/crash/$name.c" "$1" || exit 1
done
