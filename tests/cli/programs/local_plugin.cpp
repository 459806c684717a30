/* SPDX-License-Identifier: MIT */
/* A plugin with OpenMP and the C++ library. */
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
