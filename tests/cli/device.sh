# SPDX-License-Identifier: MIT
# Buffers in device memory, of CUDA and of HIP, in every mode that copies or reads payloads. The driver and its memory are made here; a library behind reprise lets an MPI that knows nothing of GPUs take such buffers (device_stage.c).
mpi=$1
source "$(dirname "$0")/../lib/device.sh"
source "$(dirname "$0")/../lib/common.sh"
launcher "$mpi" 4
make_drivers
flags=(-O1 -g -D_GNU_SOURCE -I"$root/include" -I"$root/tests/mpi")
"mpicc.$mpi" "${flags[@]}" -shared -fPIC "$programs/device_stage.c" -ldl -o stage.so || fail "device_stage.c does not compile"
"mpicc.$mpi" "${flags[@]}" "$programs/device_app.c" -L"$build/lib" -lreprise -ldl -o app || fail "device_app.c does not compile"
"mpicc.$mpi" "${flags[@]}" "$programs/device_window.c" -ldl -o window || fail "device_window.c does not compile"
staged() { LD_PRELOAD=$work/stage.so run 100 "$@"; } # NAME COMMAND...
works() { # NAME COMMAND...: with the result $expected, if there is one
    staged "$@"
    [ "$status" -eq 0 ] || fail "$GPU: $1: exit status $status"
    [ -n "$(result "$1")" ] || fail "$GPU: $1: no result"
    [ -z "$expected" ] || [ "$(result "$1")" = "$expected" ] || fail "$GPU: $1: $(result "$1") instead of $expected"
}
app=("${launch[@]}" "$work/app")
printf 'reprise costs 1\nmicrosecond 0\n' >costs # as in runners/det

for GPU in cuda hip; do
    export GPU
    expected=
    rm -rf plain ranks clocks rows
    # The order of messages is recorded and replayed without a question to the driver, but for those of the program.
    DRIVER_ASKED=$work/asked TEST_ORDER=up works plain "$reprise" record -o plain "${app[@]}"
    expected=$(result plain)
    DRIVER_ASKED=$work/asked TEST_ORDER=down works plain-replay "$reprise" replay plain
    [ "$(sort -u asked)" = "asked 0" ] && [ "$(wc -l <asked)" -ge 8 ] || fail "$GPU: without copies the driver was asked: $(sort -u asked | tail -n 1)"
    expected=
    TEST_ORDER=down works native "${app[@]}"
    [ "$(result native)" != "$(result plain)" ] || fail "$GPU: another order of messages gives no other result"

    DRIVER_ASKED=$work/copied TEST_ORDER=up works ranks "$reprise" record --ranks all -o ranks "${app[@]}"
    ! grep -qx 'asked 0' copied || fail "$GPU: the driver was not asked"
    for rank in 0 1 2 3; do
        DRIVER_ASKED=$work/copied staged solo "$reprise" solo -r $rank ranks
        [ "$status" -eq 0 ] && grep -q 'identical$' solo.err || fail "$GPU: solo of rank $rank: exit status $status"
        [ $rank -ne 0 ] || [ "$(result solo)" = "$(result ranks)" ] || fail "$GPU: solo: $(result solo) instead of $(result ranks)"
    done

    TEST_ORDER=up works clocks "$reprise" record --clocks -o clocks "${app[@]}"
    expected=$(result clocks)
    TEST_ORDER=down works clocks-replay "$reprise" replay clocks
    expected=
    TEST_ORDER=up works rows "$reprise" record --codec cdc -o rows "${app[@]}"
    expected=$(result rows)
    TEST_ORDER=down works rows-replay "$reprise" replay rows

    for reductions in native fixed; do
        expected=
        TEST_ORDER=up works det-up "$reprise" det --costs costs --reductions $reductions "${app[@]}"
        expected=$(result det-up)
        TEST_ORDER=down works det-down "$reprise" det --costs costs --reductions $reductions "${app[@]}"
    done
done

# What is sent after a commutative region is compared with the other replay.
export GPU=cuda
expected=
for part in region careless; do
    works $part "$reprise" record -o $part "${app[@]}" $part
    staged $part-shuffled env REPRISE_SHUFFLE=1 "$reprise" replay --shuffle $part
    case $part in
    region) [ "$status" -eq 0 ] && grep -q 'is the same as in the recorded order' $part-shuffled.err || fail "shuffled: exit status $status" ;;
    careless) [ "$status" -eq 121 ] && grep -q 'MPI_Send to 1 in main at .* was given other data' $part-shuffled.err || fail "careless, shuffled: exit status $status" ;;
    esac
done

# Exchanges that are made of other calls.
for part in threads later; do
    expected=
    works $part "$reprise" record -o $part "${app[@]}" $part
    expected=$(result $part)
    works $part-replay "$reprise" replay $part
done

expected=
# A message with parts in the host's memory and in the device's.
works bottom "$reprise" record --clocks -o bottom "${app[@]}" bottom

export LD_PRELOAD=$work/stage.so
refuses 123 'MPI_Win_create: the window is in device memory' "$reprise" record --ranks all -o created "${launch[@]}" "$work/window"
[ "${openmpi_version%%.*}" != 4 ] || export OMPI_MCA_osc=pt2pt # the others have no dynamic windows on every machine
refuses 123 'MPI_Win_attach: the window is in device memory' "$reprise" record --ranks all -o attached "${launch[@]}" "$work/window" attach
