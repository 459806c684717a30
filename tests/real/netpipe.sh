# SPDX-License-Identifier: MIT
# A ping-pong of growing messages. How many rounds are played is measured, unless -n says it.
packages=(netpipe-openmpi netpipe-mpich2)
results() { awk '{ print $1, $2 > "/dev/null" } END { print NR }' np.out; }
app() {
    local mpi program
    for mpi in openmpi mpich; do
        program=NP$mpi
        [ "$mpi" = mpich ] && program=NPmpich2
        try "netpipe -z -n 20" "$mpi" 2 "$program" -z -u 4096 -n 20
        try "netpipe -z -a -n 20" "$mpi" 2 "$program" -z -a -u 4096 -n 20
        try "netpipe -z" "$mpi" 2 "$program" -z -u 64
    done
}
