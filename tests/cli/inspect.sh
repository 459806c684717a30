# SPDX-License-Identifier: MIT
# info, dump, verify, doctor and env --list: what they print, as text and as JSON.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
program=$build/tests/mpi/$mpi/recv_any_source
launcher "$mpi" 4
run 60 record "$reprise" record -o run "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: $status"

run 10 info "$reprise" info run
for line in "^record    $work/run$" "^command   .*recv_any_source$" "^mpi       $mpi: " '^ranks     4$' '^     3 .*finished$'; do
    grep -q "$line" "$work/info.out" || fail "info: no line '$line'"
done
"$reprise" info --json run | python3 -c '
import json, sys
facts = json.load(sys.stdin)
assert facts["complete"] is True and facts["ranks"] == 4 and len(facts["by_rank"]) == 4
assert sum(r["events"] for r in facts["by_rank"]) == facts["sum"]["events"] > 0
assert facts["command"][-1].endswith("recv_any_source")' || fail "info --json"

"$reprise" dump run >"$work/dump.out" || fail "dump"
"$reprise" dump --json run >"$work/json.out" || fail "dump --json"
python3 "$programs/inspect_same.py" "$work/dump.out" "$work/json.out" || fail "dump and dump --json differ"
[ "$("$reprise" dump -r 2 run | cut -d' ' -f1 | sort -u)" = 2 ] || fail "dump -r 2"
"$reprise" dump --sites run | grep -q "recv_any_source(+0x.*main at .*recv_any_source.c:[1-9]" || fail "dump --sites"
"$reprise" dump --sites --json run | grep -q '"file": ".*recv_any_source.c", "line": [1-9]' || fail "dump --sites --json"
line=$(sed -n 's/.* MPI_Recv .* at=.*recv_any_source.c:\([0-9]*\)$/\1/p' "$work/dump.out" | head -n 1)
sed -n "${line:-1}p" "$(dirname "$0")/../mpi/recv_any_source.c" | grep -q MPI_Recv || fail "dump: line ${line:-unknown} of the source does not call MPI_Recv"
"$reprise" verify run | grep -q 'all checks passed$' || fail "verify"
(cd "$work" && REPRISE_RUN=run "$reprise" verify >/dev/null) || fail "REPRISE_RUN"

"$reprise" doctor "$program" | grep -q "MPI: $mpi" || fail "doctor"
"$reprise" doctor "$build/tests/mpi/$mpi/win_create" | grep -q 'calls MPI_Win_create: the data of all ranks is recorded, too' || fail "doctor: windows"
printf '%s\n' '#include <mpi.h>' 'int MPIX_Comm_revoke(MPI_Comm);' 'int main(int count, char **words) { MPI_Init(&count, &words); MPIX_Comm_revoke(MPI_COMM_WORLD); return MPI_Finalize(); }' >revoking.c
echo 'int MPIX_Comm_revoke(void) { return 0; }' >libulfm.c
"mpicc.$mpi" -shared -fPIC -o libulfm.so libulfm.c || fail "libulfm.so does not compile"
"mpicc.$mpi" -o revoking revoking.c -L. -lulfm || fail "revoking.c does not compile"
"$reprise" doctor ./revoking | grep -q 'calls.* MPIX_Comm_revoke, which is refused' || fail "doctor: refused"
"$reprise" doctor /bin/true >"$work/doctor.out"
[ $? -eq 123 ] && grep -q 'linked with no MPI' "$work/doctor.out" && grep -q 'unless it loads an MPI itself' "$work/doctor.out" || fail "doctor: no MPI"
"$reprise" env --list | grep -q '^REPRISE_DIR ' || fail "env --list"
[ "$("$reprise" --version)" = "reprise 0.1.0" ] || fail "version"
for command in record replay info dump verify env doctor; do
    "$reprise" $command --help | grep -q "^usage: reprise $command" || fail "$command --help"
done
