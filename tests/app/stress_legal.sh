# SPDX-License-Identifier: MIT
# What `reprise stress` does, MPI allows: programs that check all that must hold in any order of messages find nothing wrong, and the records of their runs replay.
tests=$(cd "$(dirname "$0")/.." && pwd)
source "$tests/lib/common.sh"
mpi=$1
case $mpi in # half of them on each MPI, but for those in which MPIs differ
openmpi) programs="cancel_receive errors_return improbe_imrecv irecv_out_of_order mprobe_mrecv request_get_status testall testsome waitany" ;;
*) programs="cancel_receive errors_return generalized_requests intercomm iprobe_poll persistent_any sendrecv_any testany threads_one_comm waitsome" ;;
esac
for name in ${TEST_PROGRAMS:-$programs}; do # others by hand
    ranks=$(headers "$tests/mpi/$name.c" ranks)
    launcher "$mpi" "$ranks"
    rm -rf runs
    TEST_PACE_MS=1 run 500 stress "$reprise" stress --runs 2 --seed 5 --timeout 150 --compare status -o runs "${launch[@]}" "$build/tests/mpi/$mpi/$name"
    [ "$status" -eq 0 ] || fail "$name: exit status $status"
    run 100 replay "$reprise" replay runs/run-1
    [ "$status" -eq 0 ] || fail "$name: replay: exit status $status"
    [ "$(result replay)" = "$(grep -h '^RESULT' runs/run-1.out)" ] || fail "$name: replay: $(result replay), recorded $(grep -h '^RESULT' runs/run-1.out)"
done
