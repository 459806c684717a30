/* SPDX-License-Identifier: MIT */
/* Virtual functions and exceptions; tells the ticks that they take. */
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" uint64_t ticks_now();
struct shape {
    virtual ~shape()
    {
    }
    virtual int size(int n)
    {
        if (n % 7 == 0)
            throw std::runtime_error("seven");
        return n;
    }
};

struct square : shape {
    int size(int n) override
    {
        return n % 11 == 0 ? throw n : n * n;
    }
};

int main(int argc, char **argv)
{
    int n = std::stoi(argv[argc - 1]), caught = 0, sum = 0;
    std::vector<shape *> all = {new shape, new square};
    std::map<std::string, int> seen;
    uint64_t before = ticks_now();
    for (int i = 0; i < n; i++)
        try {
            sum += all[i % 2]->size(i);
            seen[std::to_string(i % 5)]++;
            all.at(i % 3);
        } catch (const std::exception &) {
            caught++;
        } catch (int x) {
            caught += 2 * (x > 0);
        }
    std::printf("exceptions %llu\n", (unsigned long long)(ticks_now() - before));
    return sum < caught;
}
