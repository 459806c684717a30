# SPDX-License-Identifier: MIT
# A program that makes windows is recorded with the data of all ranks, without any option. How a record is replayed follows from the calls that
# the program made, not from whether they succeeded.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
unset OMPI_MCA_btl_vader_single_copy_mechanism # Open MPI makes these windows only where memory of others can be reached directly
launcher "$mpi" 2
announced='calls MPI_Win_create: the data of all ranks is recorded'
compile() { "mpicc.$mpi" -O1 -g -o "$@" "$programs/windows_seen_app.c" -pthread -ldl || fail "$1 does not compile"; }
compile seen -DSEEN
compile unseen

replays() { # NAME TEXT: the record replays identically, with the same output, and says TEXT
    run 60 "$1.replay" "$reprise" replay "$1"
    [ "$status" -eq 0 ] || fail "$1: replay: exit status $status"
    grep -q "$2" "$1.replay.err" || fail "$1: replay: '$2' is not said"
    [ "$(sort "$1.replay.out")" = "$(sort "$1.out")" ] || fail "$1: replay: other output"
}

records() { # NAME COMMAND...
    local name=$1
    shift
    run 60 "$name" "$reprise" record -o "$name" "$@"
    [ "$status" -eq 0 ] || fail "$name: exit status $status"
}

# Seen: both launch orders, and several programs in a command; one line announces it.
records outside "${launch[@]}" ./seen window
[ "$(grep -c "$announced" outside.err)" -eq 1 ] || fail "outside: not announced once"
replays outside 'on 2 ranks, each alone: identical$'
run 60 inside "${launch[@]}" "$reprise" record -o inside ./seen window
[ "$status" -eq 0 ] && [ "$(grep -c "$announced" inside.err)" -eq 1 ] || fail "inside: exit status $status, or not announced once"
replays inside 'on 2 ranks, each alone: identical$'
launcher "$mpi" 1
if timeout 60 "${launch[@]}" ./unseen window : -n 1 ./seen window >/dev/null 2>&1; then # the launcher of Open MPI 5.0.7 crashes
    records several "${launch[@]}" ./unseen window : -n 1 ./seen window
    grep -q "$announced" several.err || fail "several programs: not announced"
    replays several 'on 2 ranks, each alone: identical$'
fi
launcher "$mpi" 2
"$reprise" env record ./seen 2>env.err >env.out && grep -q "REPRISE_RANKS='all'" env.out && grep -q "$announced" env.err || fail "env"

# It makes no window in this run: the record is an ordinary one, with data.
records unused "${launch[@]}" ./seen nothing
replays unused 'on 2 ranks: identical$'

# The old way, and programs that were not seen to make windows.
refuses 123 'MPI_Win_create cannot be replayed yet.*record --ranks all' "$reprise" record --ranks none -o none "${launch[@]}" ./seen window
grep -q "$announced" refused.err && fail "--ranks none: data is announced"
refuses 123 'MPI_Win_create cannot be replayed yet.*record --ranks all' "$reprise" record -o unseen.run "${launch[@]}" ./unseen window
records allowed --allow MPI_Win_create "${launch[@]}" ./seen window
[ ! -e allowed/rank-00000.data ] || fail "--allow MPI_Win_create: data was recorded"
records clocks --clocks "${launch[@]}" ./seen nothing

# Threads that may call MPI.
records threads "${launch[@]}" ./seen threads
[ -e threads/rank-00000.turns ] || fail "threads: no log of turns"
replays threads 'on 2 ranks: identical$'
records threads2 "${launch[@]}" ./seen threads,window
replays threads2 'on 2 ranks, each alone: identical$'

# By the function of large counts.
if "mpicc.$mpi" -O1 -o large -DSEEN -DLARGE -Werror=implicit-function-declaration "$programs/windows_seen_app.c" -ldl 2>/dev/null; then
    records large.run "${launch[@]}" ./large window
    grep -q 'calls MPI_Win_create_c: the data of all ranks is recorded' large.run.err || fail "large counts: not announced"
    replays large.run 'on 2 ranks, each alone: identical$'
    refuses 123 'MPI_Win_create_c cannot be replayed yet.*record --ranks all' "$reprise" record --ranks none -o large.none "${launch[@]}" ./large window
    "$reprise" doctor ./large | grep -q 'calls MPI_Win_create_c: the data of all ranks is recorded, too' || fail "doctor: large counts"
fi

# Partitioned communication beside windows.
if "mpicc.$mpi" -O1 -o partitioned -DSEEN -DPARTITIONED -Werror=implicit-function-declaration "$programs/windows_seen_app.c" -ldl 2>/dev/null; then
    records partitioned.run "${launch[@]}" ./partitioned window
    [ -e partitioned.run/rank-00000.data ] || fail "partitioned: no data was recorded"
    replays partitioned.run 'on 2 ranks, each alone: identical$'
fi

# Windows that could not be made.
records failure "${launch[@]}" ./seen failure
grep -q 'rank 0: error class \([0-9]*\), that of sizes is \1$' failure.out || fail "the window was made"
replays failure 'on 2 ranks, each alone: identical$'
records failure2 --ranks all "${launch[@]}" ./unseen failure
replays failure2 'on 2 ranks, each alone: identical$'

# Fortran names the functions otherwise.
command -v "mpif90.$mpi" >/dev/null || { echo "windows_seen on $mpi: without Fortran"; exit 0; }
for kind in 'mpi integer' 'mpi_f08 type(MPI_Win)'; do
    sed "s/MODULE/${kind% *}/; s/WINDOW/${kind#* }/" "$programs/windows_seen.f90" >"${kind% *}.f90"
    "mpif90.$mpi" -o "${kind% *}" "${kind% *}.f90" >compile.out 2>&1 || fail "${kind% *} does not compile"
    records "fortran.${kind% *}" "${launch[@]}" "./${kind% *}"
    grep -q 'the data of all ranks is recorded' "fortran.${kind% *}.err" || fail "${kind% *}: not announced"
    replays "fortran.${kind% *}" 'on 2 ranks, each alone: identical$'
done
echo "windows_seen on $mpi: ok"
