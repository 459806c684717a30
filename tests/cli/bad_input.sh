# SPDX-License-Identifier: MIT
# Wrong commands, records and programs: a clear error that names the thing, the right exit status, nothing overwritten.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
other=openmpi
[ "$mpi" = openmpi ] && other=mpich
program=$build/tests/mpi/$mpi/recv_any_source
launcher "$mpi" 4

refuses 120 'usage' "$reprise"
refuses 120 "no command 'rewind'" "$reprise" rewind
refuses 120 "unknown option '--colour'" "$reprise" record --colour "$program"
refuses 120 'what is to be recorded' "$reprise" record
refuses 120 'needs DIR' "$reprise" record -o
refuses 120 'unknown setting REPRISE_OUTPT' env REPRISE_OUTPT=x "$reprise" record "$program"
refuses 120 'no such program' "$reprise" record ./nowhere
refuses 120 'cannot see which MPI' "$reprise" record /bin/true
refuses 120 'no MPI that reprise knows' "$reprise" record --mpi lam "$program"
refuses 120 'stop, gdb or continue' "$reprise" replay --at-end never
refuses 120 'no record yet' "$reprise" replay
refuses 120 "no record 'nothing'" "$reprise" info nothing
mkdir none
refuses 120 'none is not a record' "$reprise" verify none
refuses 120 'is not a directory' "$reprise" info "$program"

run 60 record "$reprise" record -o run "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: $status"
cp -a run pristine
refuses 120 'exists already' "$reprise" record -o run "${launch[@]}" "$program"
refuses 120 'exists already' "${launch[@]}" "$reprise" record -o run "$program"
diff -r run pristine >/dev/null || fail "a record was changed"

refuses 120 'recorded with 4 ranks' "$reprise" replay run -- "${launch[0]}" -n 3 "$program"
refuses 120 'not the program that was recorded' "$reprise" replay run -- "${launch[@]}" "$build/tests/mpi/$mpi/irecv_wait"
run 60 forced "$reprise" replay --force run -- "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "--force: $status"
if [ -x "$build/tests/mpi/$other/recv_any_source" ]; then
    mine=("${launch[@]}")
    launcher "$other" 4
    refuses 120 "recorded with $mpi" "$reprise" replay run -- "${launch[@]}" "$build/tests/mpi/$other/recv_any_source"
    launch=("${mine[@]}")
fi

cp -a pristine broken && rm broken/rank-00002.log
refuses 122 'rank 2: .*rank-00002.log' "$reprise" replay broken -- "${launch[@]}" "$program"
refuses 122 'rank-00002.log is missing' "$reprise" verify broken
rm -rf broken && cp -a pristine broken && truncate -s 200 broken/rank-00001.log
refuses 122 'rank 1: ' "$reprise" verify broken
refuses 122 'rank 1: ' "$reprise" replay broken -- "${launch[@]}" "$program"
rm -rf broken && cp -a pristine broken
damage broken/rank-00000.log 150
refuses 122 'rank 0: .*at byte' "$reprise" verify broken
refuses 122 'rank 0: .*at byte' "$reprise" dump broken
refuses 122 'rank 0: ' "$reprise" replay broken -- "${launch[@]}" "$program"
rm -rf broken && cp -a pristine broken
printf '\011' | dd of=broken/rank-00003.log bs=1 seek=8 conv=notrunc 2>/dev/null
refuses 122 'format 9.2 is newer' "$reprise" verify broken
rm -rf broken && cp -a pristine broken && sed -i 's/"major": 1/"major": 7/' broken/manifest.json
refuses 122 'format 7.2 is newer' "$reprise" info broken
echo '{"format": ' >broken/manifest.json
refuses 122 'manifest.json: at byte' "$reprise" info broken
refuses 120 'the record has ranks 0 to 3' "$reprise" dump -r 4 run
diff -r run pristine >/dev/null || fail "a record was changed"

refuses 123 'nothing was recorded' "$reprise" record --mpi "$mpi" -o nothing /bin/true
refuses 3 'which ended with status 3, came out of MPI_Init' "$reprise" record --mpi "$mpi" -o nothing sh -c 'exit 3'
[ ! -e nothing ] || fail "an empty record was left behind"
printf 'int main(void) { return 0; }\n' >static.c
if gcc -static static.c -o static 2>/dev/null; then
    refuses 123 'statically linked' "$reprise" record -o nothing ./static
    refuses 123 'statically linked' "$reprise" record -o nothing "${launch[@]}" ./static
fi
# What -n 0 means is the launcher's to say: the status is the same with us, and what ran can be replayed.
run 60 zero_native "${launch[0]}" -n 0 "$program"
native=$status
run 60 zero "$reprise" record -o zero "${launch[0]}" -n 0 "$program"
[ "$status" -eq "$native" ] || fail "-n 0: exit status $status, natively $native"
if [ "$native" -eq 0 ]; then
    run 60 zero_again "$reprise" replay zero
    [ "$status" -eq 0 ] && grep -q 'identical$' "$work/zero_again.err" || fail "-n 0: replay: exit status $status"
fi

if [ "$(id -u)" -eq 0 ]; then
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
    nobody=()
fi
# Nobody may not be able to reach the build tree.
mkdir tool
cp -r "$build/bin" "$build/lib" "$program" tool
chmod -R a+rX "$work"
mkdir -m 555 readonly
refuses 125 'readonly.*Permission denied' "${nobody[@]}" tool/bin/reprise record -o readonly/run tool/recv_any_source
cp -a pristine secret && chmod 000 secret
refuses 120 'secret' "${nobody[@]}" tool/bin/reprise info secret
chmod 755 secret && chmod 000 secret/rank-00001.log
refuses 125 'rank 1: .*Permission denied' "${nobody[@]}" tool/bin/reprise verify secret

# A record that is still being written, and two jobs that want one name.
hang=$build/tests/mpi/$mpi/deadlock
"$reprise" record -o live "${launch[@]}" "$hang" >live.out 2>live.err &
recorder=$!
for _ in $(seq 100); do [ -e live/rank-00003.log ] && grep -q PARTIAL live.out && break; sleep 0.1; done
refuses 120 'still being written' "$reprise" verify live
refuses 120 'still being written' "$reprise" replay live -- "${launch[@]}" "$hang"
refuses 120 'exists already' "$reprise" record -o live "${launch[@]}" "$hang"
kill -TERM "$recorder"
wait "$recorder"
"$reprise" verify live >"$work/live.verify.out" 2>"$work/live.verify.err" || fail "verify after the end: $?"

# A launcher that does not end when it is told to.
if [ "$mpi" = openmpi ]; then
    printf '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 1; done\n' >stubborn && chmod +x stubborn
    run 60 stubborn timeout 1 "$reprise" record --mpi openmpi -o never "$work/stubborn"
    grep -q 'did not end within 10 seconds' "$work/stubborn.err" || fail "a stubborn launcher is not named"
    ! pgrep -f "$work/stubborn" >/dev/null || fail "a stubborn launcher still runs"
fi
