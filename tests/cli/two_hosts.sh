# SPDX-License-Identifier: MIT
# Ranks on another host get the preload, whatever the launcher passes on: two network namespaces with names of their own stand for hosts, and a remote shell that hands on nothing of the
# environment leads from one to the other.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
a=rp-a-$$ b=rp-b-$$ net=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
ip netns add "$a" 2>/dev/null && ip netns add "$b" 2>/dev/null || { echo "skipped: no network namespaces here"; exit 77; }
trap 'ip netns del "$a"; ip netns del "$b"; rm -rf "$work"' EXIT
ip link add "va$$" type veth peer name "vb$$" 2>ip.err && ip link set "va$$" netns "$a" && ip link set "vb$$" netns "$b" || { echo "skipped: no veth here"; exit 77; }
ip netns exec "$a" sh -c "ip addr add $net.1/24 dev va$$; ip link set va$$ up; ip link set lo up"
ip netns exec "$b" sh -c "ip addr add $net.2/24 dev vb$$; ip link set vb$$ up; ip link set lo up"
cat >shell <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
[ "\$1" = $net.1 ] && host=$a || host=$b
shift
exec env -i PATH="\$PATH" HOME="\$HOME" ip netns exec \$host unshare -u sh -c "hostname \$host; \$*"
END
chmod +x shell
cat >where.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size;
    long value, hash = 0;
    char host[64];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    printf("rank %d is on %s\n", rank, host);
    for (int i = 0; i < 20; i++)
        if (rank > 0)
            MPI_Send(&(long){rank * 100 + i}, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 20 * (size - 1); i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        hash = hash * 31 + value;
    }
    if (rank == 0)
        printf("RESULT hash=%016lx\n", hash);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -o where where.c || fail "it does not compile"
case $mpi in
openmpi) launch=(mpirun.openmpi --mca plm_rsh_agent "$work/shell" --mca btl_tcp_if_include "$net.0/24" --mca oob_tcp_if_include "$net.0/24"
    -x TERM -host "$net.1:2,$net.2:2" -n 4) ;;
mpich) launch=(mpirun.mpich -launcher ssh -launcher-exec "$work/shell" -iface "va$$" -hosts "$net.1:2,$net.2:2" -n 4) ;;
esac
export TERM=${TERM:-dumb}
there=(ip netns exec "$a" unshare -u sh -c "hostname $a; exec \"\$@\"" sh)
run 60 native "${there[@]}" "${launch[@]}" ./where
[ "$status" -eq 0 ] && grep -q "rank 2 is on $b" "$work/native.out" || { echo "skipped: $mpi does not run over two hosts here"; exit 77; }

run 60 record "${there[@]}" "$reprise" record -o outside "${launch[@]}" ./where
[ "$status" -eq 0 ] || fail "record: exit status $status"
grep -q "recorded [1-9][0-9]* events on 4 ranks" "$work/record.err" || fail "record"
grep -q "rank 3 is on $b" "$work/record.out" || fail "not on two hosts"
run 60 replay "${there[@]}" "$reprise" replay outside
[ "$status" -eq 0 ] || fail "replay: exit status $status"
[ "$(result replay)" = "$(result record)" ] || fail "another result"
grep -q 'identical$' "$work/replay.err" || fail "not identical"

run 60 record "${there[@]}" "${launch[@]}" "$reprise" record -o "$work/inside" ./where
[ "$status" -eq 0 ] || fail "record inside: exit status $status"
run 60 replay "${there[@]}" "${launch[@]}" "$reprise" replay "$work/inside" ./where
[ "$status" -eq 0 ] || fail "replay inside: exit status $status"
[ "$(result replay)" = "$(result record)" ] || fail "another result inside"
