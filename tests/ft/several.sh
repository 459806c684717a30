# SPDX-License-Identifier: MIT
# Several ranks die: at once, one after the other, the same one again, while it runs again, during recovery, a rank together with the one that has its checkpoint, a spare.
source "$(dirname "$0")/../lib/ft.sh"
jacobi=("$apps/jacobi" --size 30 --edge 40)
expect jacobi 4 -- "${jacobi[@]}"
survive twice 2 4 --spares 2 --kill 0@13,1@13 -- "${jacobi[@]}"
survive again 3 4 --spares 3 --kill 1@17,1@15,1@25:2 -- "${jacobi[@]}"
for step in 1 2 3 4; do
    survive "recovery-$step" 2 4 --spares 2 --kill "1@17:2,2@recovery:$step" -- "${jacobi[@]}"
done
survive in-files 2 4 --spares 2 --checkpoints files --kill 1@17,3@17 -- "${jacobi[@]}"
survive setup 2 4 --spares 2 --kill 1@17,1@setup:3 -- "${jacobi[@]}"
blast=("$apps/blast" --size 12 --edge 3)
expect blast 8 --interval 4 -- "${blast[@]}"
survive blast-random any 8 --interval 4 --spares 3 --checkpoints files8 --kill-random 7:3:12 -- "${blast[@]}"
