# SPDX-License-Identifier: MIT
# Programs of tests/mpi, recorded by cdc and replayed by clocks in other orders of arrival: half of them on each MPI. TEST_PROGRAMS names others.
tests=$(cd "$(dirname "$0")/.." && pwd)
case $1 in
openmpi) programs="collectives_between iprobe_poll many_requests persistent_any rendezvous sendrecv_any sends_variants testany waitall_mixed waitsome" ;;
*) programs="datatypes isendrecv_any isendrecv_corners irecv_out_of_order master_worker probe_recv self_messages sendrecv_replace_any testall testsome waitany zero_bytes" ;;
esac
for name in ${TEST_PROGRAMS:-$programs}; do
    TEST_CODEC=cdc "$tests/runners/mpi" "$tests/mpi/$name.c" "$1" || exit 1
done
