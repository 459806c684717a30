# SPDX-License-Identifier: MIT
# Whatever a recording refuses, a deterministic run refuses too, by name: each function that
# api/functions.table refuses for either. None is called really, so that any arguments do.
tables=$(cd "$(dirname "$0")/../../api" && pwd)
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 1
"mpicc.$mpi" -w -o refused "$programs/det_refused_call.c" -ldl || fail "it does not compile"
echo '#include <mpi.h>' >includes.c
"mpicc.$mpi" -E includes.c >declared || fail "no mpi.h"
count=0
names() { python3 -B "$tables/refused.py" "$tables/functions.table" "$1" | tr -d '",'; }
for name in $(sort -u <(names record) <(names det)); do
    grep -qw "$name" declared || continue # only mpi-ext.h, or none, has it: calls of it are redirected, not what dlsym finds (cli.unknown_functions)
    run 60 det "$reprise" det "${launch[@]}" ./refused "$name"
    if grep -q 'not there' "$work/det.out"; then continue; fi
    # the launcher of MPICH forgets the status of a lone process in one of ten runs, of any program, and ends with 1: then MPICH itself says with what the rank ended
    [ "$status" -eq 123 ] || { [ "$mpi-$status" = mpich-1 ] && grep -q '^Abort(123)' "$work/det.err"; } || fail "$name: exit status $status, not 123"
    grep -q "error: $name cannot be made deterministic" "$work/det.err" || fail "$name is not named"
    count=$((count + 1))
done
[ "$count" -ge 4 ] || fail "only $count functions were tried"
echo "det_refused on $mpi: $count functions"
