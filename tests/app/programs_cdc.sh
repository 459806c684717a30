# SPDX-License-Identifier: MIT
# Programs of tests/mpi, recorded by cdc and replayed by clocks in other orders of arrival.
tests=$(cd "$(dirname "$0")/.." && pwd)
for name in collectives_between datatypes iprobe_poll irecv_out_of_order many_requests master_worker persistent_any probe_recv rendezvous self_messages sendrecv_any \
    sendrecv_replace_any sends_variants testall testany testsome waitall_mixed waitany waitsome zero_bytes; do
    TEST_CODEC=cdc "$tests/run-mpi" "$tests/mpi/$name.c" "$1" || exit 1
done
