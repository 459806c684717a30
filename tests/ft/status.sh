# SPDX-License-Identifier: MIT
# reprise status tells of a run that survives deaths: the rank and iteration of each process, who died, and who took its place.
source "$(dirname "$0")/../lib/ft.sh"
"$reprise" ft --spares 2 --interval 10 --kill 1@15 -o kept mpirun -n 2 "$apps/jacobi" --size 100000000 --edge 40 >ft.out 2>ft.err </dev/null &
runner=$!
found=no
for _ in $(seq 600); do
    "$reprise" status >status.out 2>status.err && grep -q '^ *1 .*has died' status.out && [ "$(grep -c '^ *1 ' status.out)" -eq 2 ] && found=yes && break
    kill -0 "$runner" 2>/dev/null || fail "it ended before its time"
    sleep 0.1
done
"$reprise" status --json kept >status.json 2>json.err || found=none
kill -TERM "$runner"
wait "$runner"
[ $found = yes ] || fail "the status does not tell who died and who took its place: $found"
grep -q "^ft *process $runner, since [0-9]* s: .*jacobi" status.out || fail "not told which run it is"
grep -q '^ *0 *[1-9][0-9]*  runs.* (process [0-9]*)$' status.out || fail "not told how far rank 0 is"
grep -q '^ spare .*is ready to replace a rank' status.out || fail "not told of the spare"
python3 -c 'import json; r = json.load(open("status.json"))["runs"][0]; assert r["kind"] == "ft" and len(r["ranks"]) == 4 and r["ranks"][0]["iteration"] > 0, r' || fail "as JSON"
! ls .reprise/running-* >/dev/null 2>&1 || fail "something was left behind"
