# SPDX-License-Identifier: MIT
# Buffers in device memory, and protected device memory: a rank that dies comes back, from the log of messages, from compressed ones, and when all ranks go back. MPI itself sees no such buffer.
source "$(dirname "$0")/../lib/device.sh"
source "$(dirname "$0")/../lib/ft.sh"
make_drivers
"$REPRISE_ULFM/bin/mpicc" -O1 -g -Wall -D_GNU_SOURCE -I"$root/include" -I"$sources" "$programs/device_loop.c" -o loop "$build/lib/libreprise.a" -ldl || fail "cannot compile"
for GPU in cuda hip; do
    export GPU
    expect reference-$GPU 3 --interval 8 -- ./loop
    [ "$GPU" = cuda ] || [ "$expected" = "$cuda" ] || fail "hip: $expected instead of $cuda"
    cuda=$expected
    survive once-$GPU 1 3 --interval 8 --kill 2@14:5 -- ./loop
done
export GPU=cuda
survive compressed 1 3 --interval 8 --compress --kill 1@13:3 -- ./loop
survive all-back 1 3 --interval 8 --capacity 1 --kill 1@13:6 -- ./loop
grep -q 'all ranks go back' all-back.err || fail "the log cannot have been long enough"
