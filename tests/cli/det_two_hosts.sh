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
"mpicc.$mpi" -o mixed "$programs/det_two_hosts_mixed.c" || fail "it does not compile"

# Somebody who connects to whatever the program listens on, and goes on without knowing the secret. (Launchers do not bear that.)

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
    ip netns exec "$host_a" python3 "$programs/det_two_hosts_stranger.py" "$net.1" "$work/answers" 2>/dev/null &
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
cut_link() {
    for i in $(seq 600); do grep -q "it has begun" "$work/cut.out" && break; sleep 0.1; done
    ip netns exec "$host_b" ip link set "$link_b" down
    for i in $(seq 900); do grep -q "the connection to host 1 of the job broke" "$work/cut.err" && break; sleep 0.1; done
    ip netns exec "$host_b" ip link set "$link_b" up
}
"mpicc.$mpi" -o chatter "$programs/det_two_hosts_chatter.c" || fail "it does not compile"
>cut.out
>cut.err
cut_link &
run 180 cut "${there[@]}" "$reprise" det "${spread[@]}" ./chatter
wait
[ "$status" -eq 125 ] || fail "the network failed: exit status $status, not 125"
grep -q "the connection to host 1 of the job broke" "$work/cut.err" || fail "it is not said that the connection broke"
echo "a broken connection: told"
