# SPDX-License-Identifier: MIT
# A deterministic run over two hosts decides what it decides on one; deadlocks are told; who does not know the secret of the job cannot take part.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/common.sh"
mpi=$1
source "$here/../lib/hosts.sh"
need_both_hosts "$mpi"
launcher "$mpi" 4
stranger=
at_end() { [ -z "$stranger" ] || kill "$stranger" 2>/dev/null; }
# Collective calls of all and of some, blocking or not, between messages from any source, some of them long; what tests answer depends on when others come.
cat >mixed.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { LONG = 20000 };
int main(int argc, char **argv)
{
    static int big[LONG], into[LONG];
    static MPI_Status statuses[8];
    int rank, size, flag;
    long hash = 7, sum;
    MPI_Status status;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half); /* over both hosts */
    for (int round = 0; round < 20; round++) {
        MPI_Request barrier, sends[8];
        int polls = 0, sent = 0;
        big[0] = rank * 100 + round;
        for (int i = 0; i < size; i++)
            if (i != rank)
                MPI_Isend(big, (i + round) % 3 == 0 ? LONG : 1, MPI_INT, i, 1, MPI_COMM_WORLD, &sends[sent++]);
        for (int i = 0; i < size - 1; i++) {
            MPI_Recv(into, LONG, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            hash = hash * 31 + into[0];
            if (rank == round % size)
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status), hash = hash * 3 + flag;
        }
        do
            MPI_Testall(sent, sends, &flag, statuses), polls++;
        while (!flag);
        MPI_Ibarrier(round % 2 ? MPI_COMM_WORLD : half, &barrier);
        do
            MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE), polls++;
        while (!flag);
        hash = hash * 31 + polls;
        MPI_Allreduce(&hash, &sum, 1, MPI_LONG, MPI_BXOR, round % 3 ? MPI_COMM_WORLD : half);
        hash ^= sum >> 3;
        MPI_Barrier(half);
    }
    MPI_Reduce(&hash, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT hash=%016lx\n", (unsigned long)sum);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -o mixed mixed.c || fail "it does not compile"

# Somebody who connects to whatever the program listens on, and goes on without knowing the secret. (Launchers do not bear that.)
cat >stranger.py <<'END'
import os, socket, struct, sys
def name_of(process):
    try:
        return open("/proc/%s/comm" % process).read().strip()
    except OSError:
        return ""
def sockets_of(process):
    try:
        return {os.readlink("/proc/%s/fd/%s" % (process, fd)) for fd in os.listdir("/proc/%s/fd" % process)}
    except OSError:
        return set()
def listening(program):
    names = {process: name_of(process) for process in os.listdir("/proc") if process.isdigit()}
    own = [process for process in names if names[process] == program]
    ports = {}
    for line in open("/proc/net/tcp").read().split("\n")[1:] if own else []:
        word = line.split()
        if len(word) > 9 and word[3] == "0A" and word[1].startswith("00000000:"):
            ports["socket:[%s]" % word[9]] = int(word[1].split(":")[1], 16)
    found = set().union(*map(sockets_of, own)) & set(ports)
    for process in names if found else []:
        if names[process].startswith(("mpi", "hydra", "orte", "prte")):
            found -= sockets_of(process)
    return {ports[one] for one in found}
answers, kept, silent = 0, [], []
while True:
    for port in listening("masterworker"):
        try:
            silent = (silent + [socket.create_connection((sys.argv[1], port), 0.2)])[-20:]
            s = socket.create_connection((sys.argv[1], port), 0.2)
            s.settimeout(0.1)
            s.send(b"reprise\1" + struct.pack("<II", 1, 0) + b"0123456789abcdef")
            if len(s.recv(24)) == 24:
                answers += 1
                open(sys.argv[2], "w").write(str(answers))
                s.send(b"12345678")
            kept = (kept + [s])[-20:]
        except OSError:
            pass
END

decided() { # NAME: result and digest
    [ "$status" -eq 0 ] || fail "$1: exit status $status"
    echo "$(grep -ho '^RESULT hash=[0-9a-f]*' "$work/$1.out") $(grep -ho 'deterministic: .*' "$work/$1.err")"
}

on_one() { # PROGRAM...
    run 60 alone "$reprise" det --check "${launch[@]}" "$@"
    one=$(decided alone) || exit 1
    [[ $one = RESULT*digest* ]] || fail "$*: $one"
}

on_two() { # PROGRAM...: as it was on one
    REPRISE_DELAY=${delay:-0} run 60 spread "${there[@]}" "$reprise" det --check "${spread[@]}" "$@"
    two=$(decided spread) || exit 1
    [ "$one" = "$two" ] || fail "$*: $one on one host, $two on two"
    echo "${1##*/}: $one"
}

compare() { # PROGRAM...
    on_one "$@"
    on_two "$@"
}

compare ./mixed
delay=200
on_two ./mixed
delay=0
compare "$build/apps/$mpi/particles" --size 200
delay=200
compare "$build/apps/$mpi/masterworker" --size 100
compare "$build/apps/$mpi/halo" --size 20
compare "$build/apps/$mpi/lu" --size 6 --work 2
compare "$build/apps/$mpi/polls" --size 20

if command -v python3 >/dev/null; then
    ip netns exec "$host_a" python3 stranger.py "$net.1" "$work/answers" 2>/dev/null &
    stranger=$!
    on_one "$build/apps/$mpi/masterworker" --size 10
    for i in 1 2 3; do on_two "$build/apps/$mpi/masterworker" --size 10; done
    kill "$stranger"
    stranger=
    echo "a stranger was answered $(cat "$work/answers" 2>/dev/null || echo 0) times"
fi

for name in ring_of_receives one_misses_the_barrier long_sends_to_each_other; do
    ranks=$(headers "$here/../mpi/deadlock/$name.c" ranks)
    spread_launcher "$mpi" "$ranks"
    tells_deadlock "$here/../mpi/deadlock/$name.c" "${there[@]}" "$reprise" det "${spread[@]}" "$build/tests/mpi/$mpi/$name"
    echo "$name: told"
done

# A network that fails: both hosts say so, and their ranks end. (Launchers wait until it is there again.) That takes half a minute, and the connection is ours: one MPI is enough.
[ "$mpi" = openmpi ] || ! command -v mpirun.openmpi >/dev/null || exit 0
spread_launcher "$mpi" 4
cat >chatter.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0;; round++) {
        MPI_Sendrecv_replace(&word, 1, MPI_INT, (rank + 1) % size, 1, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round == 100 && rank == 0)
            printf("it has begun\n"), fflush(stdout);
    }
}
END
cut_link() {
    for i in $(seq 600); do grep -q "it has begun" "$work/cut.out" && break; sleep 0.1; done
    ip netns exec "$host_b" ip link set "$link_b" down
    for i in $(seq 900); do grep -q "the connection to host 1 of the job broke" "$work/cut.err" && break; sleep 0.1; done
    ip netns exec "$host_b" ip link set "$link_b" up
}
"mpicc.$mpi" -o chatter chatter.c || fail "it does not compile"
>cut.out
>cut.err
cut_link &
run 180 cut "${there[@]}" "$reprise" det "${spread[@]}" ./chatter
wait
[ "$status" -eq 125 ] || fail "the network failed: exit status $status, not 125"
grep -q "the connection to host 1 of the job broke" "$work/cut.err" || fail "it is not said that the connection broke"
echo "a broken connection: told"
