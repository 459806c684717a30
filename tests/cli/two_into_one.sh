# SPDX-License-Identifier: MIT
# Two recordings into one -o at the same time: each has a directory of its own, and reports its
# own numbers and that; or one is refused before it runs. Nothing is lost.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
program=$build/apps/$mpi/polls

events_of() { "$reprise" info "$1" | sed -n 's/^events *\([0-9]*\),.*/\1/p'; }
size_of() { "$reprise" info "$1" | sed -n 's/^command .*--size \([0-9]*\).*/\1/p'; }

check() { # NAME STATUS SIZE: reports the record that it made
    local directory
    if [ "$2" -eq 120 ]; then
        grep -q 'exists already' "$1.err" || fail "$1: refused without a reason"
        return
    fi
    [ "$2" -eq 0 ] || fail "$1: exit status $2"
    directory=$(sed -n 's/^reprise: .*recorded .* in \(.*\)$/\1/p' "$1.err")
    [ -d "$directory" ] || fail "$1: no directory is told"
    [ "$(size_of "$directory")" = "$3" ] || fail "$1: '$directory' is not its own"
    grep -q "recorded $(events_of "$directory") events" "$1.err" ||
        fail "$1: the numbers are not those of '$directory'"
    made="$made $directory"
}

mkdir session # launchers that start and end at one time take a common directory from each other
both() { # ROUND COMMAND-OF-THE-FIRST...: beside one that reprise starts the launcher of
    local round=$1
    shift
    "$@" >first.out 2>first.err </dev/null &
    local one=$!
    OMPI_MCA_orte_tmpdir_base=$work/session "$reprise" record -o "both$round/" "${launch[@]}" "$program" --size 9 >second.out 2>second.err </dev/null &
    local other=$! first second
    wait $one
    first=$?
    wait $other
    second=$?
    made=
    ! grep -q 'exists already' first.err || first=120 # MPICH 4.2's launcher says something else now and then
    [ $first -ne 120 ] || more=0 # it never ran
    check first $first 5
    check second $second 9
    [ -n "$made" ] && [ "$(echo $made | tr ' ' '\n' | sort -u | wc -l)" -eq "$(echo $made | wc -w)" ] ||
        fail "round $round: not each its own: '$made'"
    [ "$(echo "$work/both$round"*/manifest.json | wc -w)" -eq $(($(echo $made | wc -w) + ${more:-0})) ] ||
        fail "round $round: others than '$made' were made"
}

for round in 1 2 3 4; do
    both $round "$reprise" record -o both$round "${launch[@]}" "$program" --size 5
    [ "$(echo $made | wc -w)" -eq 2 ] && two=1
done
[ "${two:-0}" -eq 1 ] || echo "no two recordings met"
for round in 5 6; do
    both $round "${launch[@]}" "$reprise" record -o both$round "$program" --size 5
done

# Two jobs of one command beside another command: the neighbours are not taken from each other.
printf '#!/bin/sh\n"$@"\n"$@"\n' >twice.sh
chmod +x twice.sh
more=1
both 7 "$reprise" record --mpi "$mpi" -o both7 ./twice.sh "${launch[@]}" "$program" --size 5
exit 0
