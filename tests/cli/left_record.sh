# SPDX-License-Identifier: MIT
# A replay that left its record between two events, so that its ranks wait for each other in blocking calls of any kind, says who is in which call and ends with 121; one whose ranks
# compute does not; one that hangs in such calls as the recorded run did comes to the end of its record.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
"mpicc.$mpi" -g -o leaves "$programs/left_record_leaves.c" || fail "it does not compile"
run 60 record "$reprise" record -o run "${launch[@]}" ./leaves
[ "$status" -eq 0 ] || fail "record: exit status $status"

leaves() { # WAY LINE...: the replay ends with 121, and says these of the ranks
    local way=$1 line
    shift
    WAY=$way run 60 left "$reprise" replay --stall 1 run
    [ "$status" -eq 121 ] || fail "$way: exit status $status"
    grep -q 'no rank can move' left.err || fail "$way: nothing is said"
    for line in "$@"; do
        grep -q "^  rank $line" left.err || fail "$way: not said: rank $line"
    done
}
leaves dup '0 waits, event 3 of 6, since [0-9]* s: MPI_Comm_dup on MPI_COMM_WORLD' '3 waits, event 0 of 0, since [0-9]* s: MPI_Recv for a message from rank 0 with tag 9'
leaves split '1 waits, .*: MPI_Comm_split on MPI_COMM_WORLD'
leaves barrier '1 waits, .*: MPI_Barrier on MPI_COMM_WORLD'
leaves allreduce '1 waits, .*: MPI_Allreduce on MPI_COMM_WORLD'
leaves inter '1 waits, .*: MPI_Intercomm_create on another communicator'
leaves cart '1 waits, .*: MPI_Cart_create on MPI_COMM_WORLD'
leaves mismatch '0 waits, .*: MPI_Barrier on MPI_COMM_WORLD' '3 waits, .*: MPI_Comm_dup on MPI_COMM_WORLD'
leaves ssend '1 waits, .*: MPI_Ssend to rank 2 with tag 5 on MPI_COMM_WORLD'
leaves send '3 waits, .*: MPI_Send to rank 0 with tag 5 on MPI_COMM_WORLD'
leaves sendrecv '1 waits, .*: MPI_Sendrecv for a message from rank 2 with tag 6'
leaves probe '1 waits, .*: MPI_Probe for a message from rank 3 with tag 8' '2 waits, .*: MPI_Bcast on MPI_COMM_WORLD'
leaves issend '1 waits, .*: MPI_Wait for a request'
leaves finalize '0 waits, .*: MPI_Recv for a message from' '3 waits, .*: MPI_Barrier on MPI_COMM_WORLD'
leaves last '3 waits, .*: MPI_Bcast on MPI_COMM_WORLD'

WAY=computes run 60 computes "$reprise" replay --stall 1 run
[ "$status" -eq 0 ] || fail "ranks that compute: exit status $status"
grep -q 'replayed 6 events on 4 ranks: identical$' computes.err || fail "ranks that compute: not identical"

# A rank that ends behind its last event, where it called MPI_Finalize in the record.
for way in abort kill _exit exit; do
    END=$way run 60 "cut.$way" "$reprise" replay run
    [ "$status" -eq 121 ] || fail "$way before MPI_Finalize: exit status $status"
    grep -q 'MPI_Finalize.*in the record\|MPI_Finalize, which the record has' "cut.$way.err" && ! grep -q ': identical' "cut.$way.err" || fail "$way before MPI_Finalize: not said"
done

# All in calls that no rank comes out of, without and with one that polls.
hang() { # NAME COMMAND...: until a while after all ranks have said that they are there
    local pid
    rm -f reached.*
    MARK=reached timeout -k 5 120 "${@:2}" >"$1.out" 2>"$1.err" </dev/null &
    pid=$!
    for _ in $(seq 600); do
        [ "$(find . -name 'reached.*' | wc -l)" -lt 4 ] || break
        sleep 0.1
    done
    sleep 2
    kill -TERM "$pid"
    wait "$pid"
}
for way in mismatch barrier; do
    WAY=$way hang "hung.$way" "$reprise" record -o "$way" "${launch[@]}" ./leaves
    WAY=$way run 60 "again.$way" "$reprise" replay "$way"
    [ "$status" -eq 0 ] || fail "a recorded hang ($way): exit status $status"
    grep -q 'end of the record after event [0-9], in MPI_[A-Z]' "again.$way.err" || fail "a recorded hang ($way): it is not said where"
    grep -q 'replayed 3 events on 4 ranks: identical up to the end of the record' "again.$way.err" || fail "a recorded hang ($way): not identical"
done

# By clocks.
run 60 record.cdc "$reprise" record --codec cdc -o cdc "${launch[@]}" ./leaves
WAY=mismatch run 60 left.cdc "$reprise" replay --stall 1 cdc
[ "$status" -eq 121 ] || fail "by clocks: exit status $status"
grep -q 'all ranks wait' left.cdc.err || fail "by clocks: nothing is said"

# Threads: a rank waits if all its threads do, and not if one sleeps for a time or computes.
"mpicc.$mpi" -g -pthread -o threads "$programs/left_record_threads.c" || fail "threads: it does not compile"
run 60 threads "$reprise" record -o threads.run "${launch[@]}" ./threads
[ "$status" -eq 0 ] || fail "threads: exit status $status"
WAY=barrier run 60 threads.left "$reprise" replay --stall 1 threads.run
[ "$status" -eq 121 ] || fail "threads: the replay that left its record: exit status $status"
grep -q '^  rank 0 waits, .*: MPI_Barrier on MPI_COMM_WORLD' threads.left.err || fail "threads: it is not said who waits"
WAY=sleeps run 60 threads.sleep "$reprise" replay --stall 1 threads.run
[ "$status" -eq 0 ] || fail "threads: one sleeps: exit status $status"
