# SPDX-License-Identifier: MIT
# Programs that are tracked by calls: as those that a plugin tracks (tracked.sh); then what is refused of them alone.
TRACK_HOW=calls
source "$(dirname "$0")/tracked.sh"

if (how=plugin track_with clang); then
    how=plugin tracked "$mpi" "$programs/tracked_app.c" by_plugin -pthread
    run 60 record "$reprise" record --ranks all -o again "${launch[@]}" ./app
    refuses 120 'rank 1 was recorded with a program that was compiled by reprise-cc --track=calls, but' "$reprise" solo --force -r 1 again -- ./by_plugin
fi

# Locks of the C library would not be shared.
tracked "$mpi" "$programs/tracked_calls_lock.c" lock -pthread
refuses 123 'pthread_mutex_init: a lock in window memory' "$reprise" record --ranks all -o locks "${launch[@]}" ./lock

# A program and its library, each by its own way.
echo 'long other(volatile long *place) { return *place; }' >library.c
printf '#include <mpi.h>\nlong other(volatile long *);\nint main(int argc, char **argv) { long x = 0; MPI_Init(&argc, &argv); x = other(&x); return MPI_Finalize() + (int)x; }\n' >mixed.c
if (how=plugin track_with clang); then
    how=plugin tracked "$mpi" library.c liblibrary.so -shared -fPIC
    tracked "$mpi" mixed.c mixed -L. -llibrary -Wl,-rpath,"$PWD"
    refuses 120 "some by '--track=calls'" "$reprise" record --ranks all -o mixes "${launch[@]}" ./mixed
fi
echo "programs tracked by calls on $mpi"
