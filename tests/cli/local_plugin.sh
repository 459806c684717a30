# SPDX-License-Identifier: MIT
# A plugin that is loaded for itself (RTLD_LOCAL, as Python's modules are) brings libraries whose functions we stand before: they must still be found.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
g++ -fopenmp -shared -fPIC -o plugin.so "$programs/local_plugin.cpp" >compile.out 2>&1 || { echo "skipped: no C++ with OpenMP here"; exit 77; }
"mpicc.$mpi" -o main "$programs/local_plugin_main.c" -ldl || fail "it does not compile"
launcher "$mpi" 2
for options in '' '--capture all'; do
    rm -rf run
    run 60 record "$reprise" record $options -o run "${launch[@]}" ./main
    [ "$status" -eq 0 ] || fail "record $options: exit status $status"
    [ "$(grep -c '^RESULT 12$' "$work/record.out")" -eq 2 ] || fail "record $options: wrong result"
    run 60 replay "$reprise" replay run
    [ "$status" -eq 0 ] || fail "replay $options: exit status $status"
done
