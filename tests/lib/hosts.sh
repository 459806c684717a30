# SPDX-License-Identifier: MIT
# Two hosts for the test scripts, after common.sh: network namespaces with names of their own, joined by a cable, and a remote shell from one to the other that hands on nothing of the
# environment. Sets $host_a and $host_b (names), $link_b (the cable's end at b), the arrays `spread` (a launcher of ranks on both, half of them each; `spread_launcher RANKS`) and `there` (runs a
# command on a). Skips the test where this cannot be. What else is to be done at the end: a function `at_end`.
host_a=rp-a-$$ host_b=rp-b-$$ link_a=va$$ link_b=vb$$ net=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
at_end() { :; }
[ "${mpi:-}" != abi ] || { echo "skipped: no launcher on two hosts for the standard ABI"; exit 77; }
ip netns add "$host_a" 2>/dev/null && ip netns add "$host_b" 2>/dev/null || { echo "skipped: no network namespaces here"; exit 77; }
trap 'at_end; ip netns del "$host_a"; ip netns del "$host_b"; rm -rf "$work"' EXIT
ip link add "$link_a" type veth peer name "$link_b" 2>ip.err && ip link set "$link_a" netns "$host_a" && ip link set "$link_b" netns "$host_b" || { echo "skipped: no veth here"; exit 77; }
ip netns exec "$host_a" sh -c "ip addr add $net.1/24 dev $link_a; ip link set $link_a up; ip link set lo up"
ip netns exec "$host_b" sh -c "ip addr add $net.2/24 dev $link_b; ip link set $link_b up; ip link set lo up"
cat >shell <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
[ "\$1" = $net.1 ] && host=$host_a || host=$host_b
shift
exec env -i PATH="\$PATH" HOME="\$HOME" ip netns exec \$host unshare -u sh -c "hostname \$host; \$*"
END
chmod +x shell
export TERM=${TERM:-dumb}
there=(ip netns exec "$host_a" unshare -u sh -c "hostname $host_a; exec \"\$@\"" sh)

spread_launcher() { # MPI RANKS: sets the array `spread`
    local hosts="$net.1:$(($2 / 2)),$net.2:$((($2 + 1) / 2))"
    case $1 in
    openmpi) spread=(mpirun.openmpi --mca plm_rsh_agent "$work/shell" --mca btl_tcp_if_include "$net.0/24" --mca oob_tcp_if_include "$net.0/24" -x TERM -host "$hosts" -n "$2") ;;
    mpich) spread=(mpirun.mpich -launcher ssh -launcher-exec "$work/shell" -iface "$link_a" -hosts "$hosts" -n "$2") ;;
    *) fail "no launcher for $1" ;;
    esac
}

# MPI: skips the test where its launcher does not reach the other host.
need_both_hosts() {
    spread_launcher "$1" 4
    run 60 native "${there[@]}" "${spread[@]}" hostname
    [ "$status" -eq 0 ] && [ "$(grep -c "^$host_b\$" "$work/native.out")" -eq 2 ] || { echo "skipped: $1 does not run over two hosts here"; exit 77; }
}
