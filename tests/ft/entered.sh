# SPDX-License-Identifier: MIT
# A program that reprise is not in would run with the spares as ranks. Where the command shows it, nothing is started; else the job is ended: always with 123, and a message, and never with a result of the wrong number of ranks. Scripts that come to an MPI program late are waited for.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 "$programs/entered_app.c" -o app && gcc "$programs/entered_static.c" -o plain && gcc "$programs/entered_loads.c" -o loads -ldl && mpicc.openmpi -shared -fPIC "$programs/entered_plugin.c" -o plugin.so || fail "cannot compile"
cp app setuid && chmod u+s setuid
script() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; } # NAME LINE
script clears 'exec env -i ./app'
script unsets 'LD_PRELOAD= ./app'
script late 'sleep 2; exec ./app "$@"'
script odd '[ "$OMPI_COMM_WORLD_RANK" -ne 1 ] || unset LD_PRELOAD; exec ./app'
script nothing 'exit 0'
refused() { # WORDS COMMAND...
    run 60 refused "$reprise" ft --spares 2 mpirun -n 2 "${@:2}"
    [ "$status" -eq 123 ] || fail "${*:2}: exit status $status instead of 123"
    grep -q -- "$1" refused.err || fail "${*:2}: does not say '$1'"
    ! grep -q RESULT refused.out || fail "${*:2}: there is a result"
}
before() { refused "cannot run: .*$1" "${@:2}"; [ ! -s refused.out ] || fail "${*:2}: something was started"; }
before 'plain is not linked with MPI' ./plain
before 'echo is not linked with MPI' /bin/echo hi
before 'setuid is setuid or setgid' ./setuid
before 'setuid is setuid or setgid' env ./setuid
if gcc -static "$programs/entered_static.c" -o static 2>/dev/null; then
    before 'static is statically linked' ./static
    script runs 'exec ./static'
    refused 'call.* MPI_Init under reprise' ./runs
    script waits 'exec ./static 60'
    refused 'call.* MPI_Init under reprise' ./waits
    script others '[ "$OMPI_COMM_WORLD_RANK" -ne 1 ] || exec ./static 1; exec ./app'
    refused 'did not call MPI_Init under reprise, which was not in it' ./others
fi
if mpicc.mpich "$programs/entered_app.c" -o mpich 2>/dev/null; then
    before 'mpich is linked with mpich' ./mpich
    refused 'this MPI is not Open MPI' sh -c ./mpich
fi
for round in 1 2 3; do
    refused 'app) uses MPI without reprise: LD_PRELOAD was cleared' env -u LD_PRELOAD ./app
    refused 'app) uses MPI without reprise: LD_PRELOAD was cleared' ./clears
    refused 'app) uses MPI without reprise: LD_PRELOAD was cleared' ./unsets
    refused 'rank 1 (process [0-9]*, .*app) uses MPI without reprise' ./odd
done
refused 'app) uses MPI without reprise' --host localhost:4 env -u LD_PRELOAD ./app
refused 'loaded MPI after its start' sh -c ./loads
refused 'MPI_Init without reprise: it took the function\|MPI_Init under reprise' sh -c './loads libmpi.so.40'
refused 'call.* MPI_Init under reprise' ./nothing
refused 'call.* MPI_Init under reprise' sh -c '/bin/echo hi'
refused 'call.* MPI_Init under reprise' env -i sh -c 'exit 3'

good() { # STATUS COMMAND...
    run 60 good "$reprise" ft --spares 2 mpirun -n 2 "${@:2}"
    [ "$status" -eq "$1" ] && [ "$(result good)" = "RESULT 2 ranks" ] || fail "${*:2}: exit status $status, $(result good)"
}
good 0 ./app
good 7 ./app 7
good 0 ./late
good 5 sh -c './late 5'
good 0 env A=b ./app
good 0 --bind-to none ./app
mkdir there && cp app there/inside
good 0 --wdir "$work/there" env A=b ./inside
good 0 --wdir "$work/there" ./inside
