# SPDX-License-Identifier: MIT
# The disk fills while recording: one clear message, the application runs on to its result, what was recorded can be read.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
mkdir small
mount -t tmpfs -o size=9m tmpfs small 2>/dev/null || { echo "skipped: cannot mount a small tmpfs"; exit 77; }
trap 'cd /; umount -l "$work/small"; rm -rf "$work"' EXIT # a rank that is about to end may still have files there
launcher "$mpi" 4
program=$build/apps/$mpi/particles
ring=260 # KiB a rank
# leave KIB: fills the disk but for these
leave()
{
    rm -f small/ballast
    dd if=/dev/zero of=small/ballast bs=1k count=$(($(df --output=avail -k small | tail -n 1) - $1)) 2>/dev/null
}
leave $((3 * ring))
run 120 record "$reprise" record -o small/run "${launch[@]}" "$program" --size 2000
ended_with "$mpi" 125 || fail "no room for the rings: exit status $status, not 125"
grep -q 'cannot record: .*No space left' "$work/record.err" || fail "no reason"
[ ! -e small/run ] || fail "something is left behind"
leave $((4 * ring + 28))
run 300 record "$reprise" record --codec tables -o small/run "${launch[@]}" "$program" --size 60000
grep -q '^RESULT .*verified=yes' "$work/record.out" || fail "the application did not end well (status $status)"
[ "$status" -eq 122 ] || fail "exit status $status, not 122"
grep -q 'recording stops: No space left on device; the application goes on unrecorded' "$work/record.err" || fail "no reason"
"$reprise" verify small/run >"$work/verify.out" 2>"$work/verify.err" || fail "verify: $?"
rm small/ballast
run 300 replay "$reprise" replay --stall 5 small/run
# Records that end at different points cannot be followed further than the messages of all ranks reach.
case $status in
122) grep -q 'replayed [1-9][0-9]* of [0-9]* events on 4 ranks: identical, but the rest needs' "$work/replay.err" || fail "replay" ;;
0) grep -q 'replayed [1-9][0-9]* events on 4 ranks: identical up to the end of the record' "$work/replay.err" || fail "replay" ;;
*) fail "replay: exit status $status" ;;
esac
