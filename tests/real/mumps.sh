# SPDX-License-Identifier: MIT
# A sparse solver whose ranks give each other work as it comes: polls of any source all the time. A Poisson problem on a square, general and symmetric.
packages=(libmumps-dev)
inputs() {
    mpicc.openmpi -O2 -o poisson "$programs/mumps_poisson.c" -ldmumps >compile.log 2>&1 || cat compile.log >&2
}
app() {
    local symmetric
    for symmetric in 0 1; do try "mumps $symmetric" openmpi 4 ./poisson 80 $symmetric; done
}
