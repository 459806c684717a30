# SPDX-License-Identifier: MIT
# A plugin that is loaded for itself (RTLD_LOCAL, as Python's modules are) brings libraries whose functions we stand before: they must still be found.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
cat >plugin.cpp <<'END'
#include <random>
extern "C" int work()
{
    int sum = 0;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 4; i++) {
#pragma omp critical
        sum += i;
#pragma omp critical(named)
        sum += i;
    }
    std::random_device device;
    return sum + static_cast<int>(device() & 0);
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    int (*work)(void) = plugin ? (int (*)(void))dlsym(plugin, "work") : NULL;
    printf("RESULT %d\n", work ? work() : -1);
    MPI_Finalize();
    return 0;
}
END
g++ -fopenmp -shared -fPIC -o plugin.so plugin.cpp >compile.out 2>&1 || { echo "skipped: no C++ with OpenMP here"; exit 77; }
"mpicc.$mpi" -o main main.c -ldl || fail "it does not compile"
launcher "$mpi" 2
for options in '' '--capture all'; do
    rm -rf run
    run 60 record "$reprise" record $options -o run "${launch[@]}" ./main
    [ "$status" -eq 0 ] || fail "record $options: exit status $status"
    [ "$(grep -c '^RESULT 12$' "$work/record.out")" -eq 2 ] || fail "record $options: wrong result"
    run 60 replay "$reprise" replay run
    [ "$status" -eq 0 ] || fail "replay $options: exit status $status"
done
