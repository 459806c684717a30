# SPDX-License-Identifier: MIT
# Each app once, half of them on each MPI: recorded with clocks in its messages, and replayed with the recorded result.
case $1 in
openmpi) apps="particles sortgather sparse treesearch mg ft ep" ;;
*) apps="masterworker halo jacobi lu polls cg is" ;;
esac
exec "$(dirname "$0")/../soak" replay -n 1 -r 4 -m "$1" -a "$apps" -c
