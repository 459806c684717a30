# SPDX-License-Identifier: MIT
# Ranks die with many collectives under way at once, which send in whatever order they get on: who runs again sends in the same order, also in the setup, during the second life, and when all go back.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -g -Wall -I "$(dirname "$tools")/include" "$programs/background.c" -o background "$build/lib/libreprise.a" || fail "cannot compile"
expect reference 4 --interval 6 -- ./background
for round in $(seq "${TEST_ROUNDS:-1}"); do
    for kill in 0@4:5 1@5:20 2@9:26 3@10:29 1@11:30 2@8:31 0@7:40; do
        survive "kill-$kill" 1 4 --interval 6 --kill "$kill" -- ./background
    done
    survive twice 2 4 --interval 6 --spares 2 --kill 1@10:28,2@10:12 -- ./background
    survive again 2 4 --interval 6 --spares 2 --kill 2@11:30,2@9:29 -- ./background
    survive setup 2 4 --interval 6 --spares 2 --kill 3@setup:30,1@4:27 -- ./background
    survive all-back 1 4 --interval 6 --capacity 20K --kill 1@9:27 -- ./background
done
