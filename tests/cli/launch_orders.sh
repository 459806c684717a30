# SPDX-License-Identifier: MIT
# Both launch orders, several programs in one command line, and the environment for other launchers.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
program=$build/tests/mpi/$mpi/recv_any_source
launcher "$mpi" 4
replays_as() { # NAME RECORDED-NAME
    [ "$status" -eq 0 ] || fail "$1: exit status $status"
    [ -n "$(result "$2")" ] && [ "$(result "$1")" = "$(result "$2")" ] || fail "$1: $(result "$1"), recorded $(result "$2")"
}

TEST_ORDER=up run 60 outside "$reprise" record -o out1 "${launch[@]}" "$program"
replays_as outside outside
TEST_ORDER=down run 60 outside_again "$reprise" replay out1
replays_as outside_again outside
TEST_ORDER=down run 60 outside_inside "${launch[@]}" "$reprise" replay out1 "$program"
replays_as outside_inside outside
grep -q 'replayed [1-9][0-9]* events on 4 ranks: identical$' "$work/outside_inside.err" || fail "inside: no verdict"

TEST_ORDER=up run 60 inside "${launch[@]}" "$reprise" record -o out2 "$program"
replays_as inside inside
grep -q 'recorded [1-9][0-9]* events on 4 ranks.*/out2$' "$work/inside.err" || fail "inside: no summary"
TEST_ORDER=down run 60 inside_again "${launch[@]}" "$reprise" replay out2 "$program"
replays_as inside_again inside
TEST_ORDER=down run 60 inside_outside "$reprise" replay out2 -- "${launch[@]}" "$program"
replays_as inside_outside inside
run 60 inside_alone "$reprise" replay out2
[ "$status" -eq 120 ] && grep -q 'inside a launcher' "$work/inside_alone.err" || fail "a replay without the launcher's command line: $status"

if timeout 30 "${launch[0]}" -n 2 "$program" : -n 2 "$program" >native.out 2>&1; then # the launcher of Open MPI 5.0.7 crashes
    TEST_ORDER=up run 60 mpmd "$reprise" record -o out3 "${launch[0]}" -n 2 "$program" : -n 2 "$program"
    replays_as mpmd mpmd
    TEST_ORDER=down run 60 mpmd_again "$reprise" replay out3
    replays_as mpmd_again mpmd
elif [ "${openmpi_version%%.*}" = 4 ] || [ "$mpi" = mpich ]; then
    fail "without reprise, several programs in one command line do not run"
fi

TEST_ORDER=up run 60 names "$reprise" record "${launch[@]}" "$program"
TEST_ORDER=up run 60 names "$reprise" record "${launch[@]}" "$program"
[ -d .reprise/recv_any_source-1 ] && [ -d .reprise/recv_any_source-2 ] || fail "the records are not in .reprise"
[ "$(readlink -f .reprise/latest)" = "$(readlink -f .reprise/recv_any_source-2)" ] || fail "latest is not the latest"
TEST_ORDER=down run 60 latest "$reprise" replay
replays_as latest names
run 60 by_name "$reprise" replay recv_any_source-2
replays_as by_name names

(eval "$("$reprise" env record -o out4 "$program")"; export TEST_ORDER=up; run 60 by_env "${launch[@]}" "$program"; exit "$status") || fail "record by env"
(eval "$("$reprise" env replay out4 "$program")"; export TEST_ORDER=down; run 60 by_env_again "${launch[@]}" "$program"; exit "$status") || fail "replay by env"
status=0
replays_as by_env_again by_env

mkdir "with space" && cp "$program" "with space/a b" && cd "with space" || fail "cp"
TEST_ORDER=up run 60 space "$reprise" record "${launch[@]}" "./a b"
cd ..
replays_as space space
TEST_ORDER=down run 60 space_again "$reprise" replay "with space/.reprise/a b-1"
replays_as space_again space

printf '#!/bin/sh\n"%s" "$@"\n' "$program" >script.sh
chmod +x script.sh
scripts=()
if [ "$mpi" = abi ]; then # the launcher may be that of another family
    run 60 family "$reprise" record --mpi openmpi -o none "${launch[@]}" ./script.sh
    [ "$status" -ne 0 ] && grep -q "reprise was started for openmpi: say '--mpi abi'" "$work/family.err" || fail "a script of a program of the standard ABI, recorded as one of Open MPI: $status"
    scripts=(--mpi abi)
fi
TEST_ORDER=up run 60 script "$reprise" record "${scripts[@]}" -o out5 "${launch[@]}" ./script.sh
replays_as script script
TEST_ORDER=down run 60 script_again "$reprise" replay out5
replays_as script_again script
TEST_ORDER=up run 60 script_inside "${launch[@]}" "$reprise" record "${scripts[@]}" -o out7 ./script.sh
replays_as script_inside script_inside
TEST_ORDER=down run 60 script_inside_again "${launch[@]}" "$reprise" replay out7 ./script.sh
replays_as script_inside_again script_inside
run 60 no_mpi "${launch[@]}" "$reprise" record -o out8 /bin/true # not a script: it would have told its MPI
[ "$status" -ne 0 ] && grep -q "cannot see which MPI '/bin/true' uses" "$work/no_mpi.err" || fail "a program without MPI inside a launcher: $status"

printf '#!/bin/sh\n%s -n 4 "%s"\n%s -n 4 "%s"\n' "${launch[0]}" "$program" "${launch[0]}" "$program" >two.sh
chmod +x two.sh
run 60 two "$reprise" record --mpi "$mpi" -o out6 ./two.sh
[ "$status" -eq 0 ] && [ -e out6/manifest.json ] && [ -e out6.2/manifest.json ] || fail "two jobs in one command: $status"
