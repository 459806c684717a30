# SPDX-License-Identifier: MIT
# records OpenSHMEM programs with the data of a set of PEs and runs these alone: each prints the same again
# usage: tests/soak shmem [-n ROUNDS] [-r PES] [-s SETS] [-p PROGRAMS]
#   -n   50 rounds of each combination, if not said
#   -r   how many PEs (4)
#   -s   sets of PEs ("1 0,2 all")
#   -p   programs of tests/shmem and apps/shmem
source "$lib/shmem.sh"
rounds=50 n=4 sets="1 0,2 all"
programs="osh_atomics osh_collectives osh_heap osh_locks osh_mixed osh_rma oshsteal"
values=([r]=n [s]=sets [p]=programs)
axes=(program:programs set:sets)

label() { echo "$program, PEs $set of $n"; }

one_round() {
    rm -rf run
    TEST_ORDER=$([ $((round % 2)) -eq 0 ] && echo up || echo down) \
        succeeds record "$reprise" record --ranks "$set" -o run oshrun -n "$n" "$build/tests/shmem/$program"
    note "$(grep '^rank' record.out | sort | md5sum)"
    succeeds solo "$reprise" solo -r "$set" run
    check_alone
}

summary() { echo ", $(distinct), $(data_size)"; }
