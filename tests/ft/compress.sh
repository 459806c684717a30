# SPDX-License-Identifier: MIT
# Logs that are compressed take less memory, and a rank that died gets the same messages from them: what it was sent from the program's memory, and parts of collectives, which are sent from the log.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 -I "$(dirname "$tools")/include" "$programs/compress_sums.c" -o sums "$build/lib/libreprise.a" || fail "cannot compile"
peak() { python3 -c 'import json, sys; print(max(json.loads(line).get("log_peak", 0) for line in open(sys.argv[1])))' "$1/events.jsonl"; }
expect plain 3 -o plain -- ./sums
survive compressed 1 3 -o compressed --compress --kill 2@17:1 -- ./sums
[ "$(peak compressed)" -lt $(($(peak plain) / 4)) ] || fail "the log took $(peak compressed) bytes, $(peak plain) without --compress"
