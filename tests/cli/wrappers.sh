# SPDX-License-Identifier: MIT
# Programs wrap MPI: a place is the first function that is no thin wrapper, in all that names places, and callers at one depth of the stack are told apart.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 3
declare -A at
for name in take take_more quick large once first second third fourth fifth sixth seventh eighth ninth; do at[$name]=$programs/wrappers_wrap.c:$(line_of "$name" "$programs/wrappers_wrap.c"); done

# TEXT FILE: it has a line that ends so
has() { grep -qF -- "$1" "$2" || fail "$flags: no '$1' in $2"; }

for flags in -O2 '-O2 -fomit-frame-pointer' '-O2 -fno-omit-frame-pointer'; do
    "mpicc.$mpi" -g $flags -o wrap "$programs/wrappers_wrap.c" || fail "mpicc.$mpi $flags"
    rm -rf run
    run 60 record "$reprise" record -o run "${launch[@]}" "$PWD/wrap"
    [ "$status" -eq 0 ] || fail "record: $status"
    run 60 replay "$reprise" replay run
    [ "$status" -eq 0 ] && has identical replay.err

    "$reprise" report run --format text >report.out || fail "report"
    sed -i "s#$PWD/##g" report.out
    has "MPI_Recv in take at ${at[take]}, a wrapper, from 4 places:" report.out
    has "  MPI_Recv in first at ${at[first]} (through take at ${at[take]})" report.out
    has "  MPI_Recv in second at ${at[second]} (through take at ${at[take]})" report.out
    has "  MPI_Recv in third at ${at[third]} (through take_more at ${at[take_more]}, take at ${at[take]})" report.out
    has "  MPI_Recv in fourth at ${at[fourth]} (through take_more at ${at[take_more]}, take at ${at[take]})" report.out
    has "MPI_Recv in quick at ${at[quick]}, a wrapper, from 2 places:" report.out
    has "  MPI_Recv in fifth at ${at[fifth]} (through quick at ${at[quick]})" report.out
    grep -qE "MPI_Recv in once at ${at[once]}\$" report.out || fail "$flags: a function with one caller is no wrapper"
    grep -qE "^ +[0-9]+ .* MPI_Recv in large at ${at[large]}\$" report.out || fail "$flags: a large function is no wrapper"
    "$reprise" report run --format json | python3 -c '
import json, sys
rows = {s["in"]: s for s in json.load(sys.stdin)["runs"][0]["call_sites"] if s["events"]}
for name in "first", "second", "third", "fourth", "fifth", "sixth":
    assert rows[name]["calls"] == 2 and rows[name]["wrapper"]["in"] == ("quick" if name in ("fifth", "sixth") else "take"), rows[name]
assert len({rows[name]["fold"] for name in ("first", "second", "third", "fourth")}) == 1 and rows["fifth"]["fold"] == rows["sixth"]["fold"] != rows["first"]["fold"]
assert rows["large"]["calls"] == 4 and "wrapper" not in rows["large"] and "wrapper" not in rows["once"]' || fail "$flags: report --format json"

    "$reprise" dump run >dump.out || fail "dump"
    sed -i "s#$PWD/##g" dump.out
    [ "$(grep -cF "at=${at[second]} through=take@${at[take]}" dump.out)" -eq 2 ] || fail "$flags: dump"
    has "at=${at[third]} through=take_more@${at[take_more]},take@${at[take]}" dump.out

    "$reprise" report run --wrappers 'lar*' --format text >listed.out || fail "report --wrappers"
    has " (through large at " listed.out
done

# Callers of a large function are told apart where it was named at the recording; whoever reads the record needs not name it again.
run 60 record "$reprise" record --wrappers 'large,x*' -o named "${launch[@]}" "$PWD/wrap"
"$reprise" report named --format text >report.out || fail "report"
sed -i "s#$PWD/##g" report.out
has "  MPI_Recv in seventh at ${at[seventh]} (through large at ${at[large]})" report.out
has "  MPI_Recv in eighth at ${at[eighth]} (through large at ${at[large]})" report.out
REPRISE_WRAPPERS=none run 60 replay "$reprise" replay named
[ "$status" -eq 0 ] && has identical replay.err

# Another caller is another place: diff.
SWAP=1 run 60 record "$reprise" record -o swapped "${launch[@]}" "$PWD/wrap"
"$reprise" diff run swapped >diff.out 2>diff.err
sed -i "s#$PWD/##g" diff.out
has "called from another place" diff.out
has "    in first at ${at[first]} (through take at ${at[take]})" diff.out
has "    in second at ${at[second]} (through take at ${at[take]})" diff.out

# A divergence, and a stall.
POST=1 run 60 diverged "$reprise" replay run
[ "$status" -eq 121 ] || fail "divergence: $status"
sed -i "s#$PWD/##g" diverged.err
[ "$(grep -cF "MPI_Recv in first at ${at[first]} (through take at ${at[take]}), called from" diverged.err)" -eq 2 ] || fail "the places of a divergence"
LATE_TAG=1 run 60 stalled "$reprise" replay --stall 3 run
[ "$status" -eq 121 ] || fail "stall: $status"
has "(${at[first]##*/}, through take)" stalled.err

# Rows are by site.
for codec in raw gzip; do
    rm -rf rows
    run 60 record "$reprise" record --codec "$codec" -o rows "${launch[@]}" "$PWD/wrap"
    [ "$status" -eq 0 ] || fail "record --codec $codec: $status"
    run 60 replay "$reprise" replay rows
    [ "$status" -eq 0 ] && has identical replay.err
done

# C++: Boost.MPI is known by name, with one caller, and of whatever size.
if "mpicxx.$mpi" -g -O2 -o names "$programs/wrappers_names.cpp" >compile.out 2>&1; then
    run 60 record "$reprise" record -o cxx "${launch[@]}" ./names
    "$reprise" dump cxx >dump.out || fail "dump of C++"
    grep -qE "at=[^ ]*names.cpp:$(line_of step "$programs/wrappers_names.cpp") through=[^ ]*recv[^ ]*@" dump.out || fail "the place of a call through Boost.MPI"
    "$reprise" report cxx --wrappers 'own::*' --format text | grep -q 'MPI_Recv in main at .*(through .*step.*recv' || fail "--wrappers own::*"
fi

# Wrong commands.
for list in '*' 'take,*?'; do
    "$reprise" dump --wrappers "$list" run >wrong.out 2>wrong.err && fail "--wrappers $list"
    [ $? -eq 120 ] || has "names of functions are expected" wrong.err
done
REPRISE_WRAPPERS='*' "$reprise" dump run >wrong.out 2>wrong.err && fail "REPRISE_WRAPPERS=*"
exit 0
