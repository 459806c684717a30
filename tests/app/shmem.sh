# SPDX-License-Identifier: MIT
# Tree search with stealing in OpenSHMEM: recorded with the data of two PEs, which are run alone.
[ "$1" = openmpi ] || { echo "skipped: for openmpi only"; exit 77; }
exec "$(dirname "$0")/../soak" shmem -n 1 -s 0,2 -p oshsteal
