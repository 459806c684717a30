/* SPDX-License-Identifier: MIT */
// ranks: 2
// det: differs
// native: differs
// record: --capture time,random
// about: std::chrono and std::random_device, before MPI_Init and after
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <random>

static unsigned long long hash;

template <typename Clock> static void note()
{
    hash =
        hash * 1000003 + static_cast<unsigned long long>(Clock::now().time_since_epoch().count());
}

static std::mt19937_64 engine{std::random_device{}()}; // before main

int main(int argc, char **argv)
{
    int rank;
    unsigned long long sum = 0;

    note<std::chrono::system_clock>();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::random_device device;
    hash = hash * 31 + engine() + device() + device();
    note<std::chrono::steady_clock>();
    note<std::chrono::high_resolution_clock>();
    MPI_Reduce(&hash, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("RESULT hash=%016llx\n", sum);
    MPI_Finalize();
    return 0;
}
