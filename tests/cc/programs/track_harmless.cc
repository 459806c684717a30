/* SPDX-License-Identifier: MIT */
/* Virtual functions, atomics and streams, which can be tracked. */
#include <atomic>
#include <iostream>

struct base {
    virtual int number();
    int n;
};

int base::number()
{
    return n;
}

int ask(base *of)
{
    return of->number();
}

struct pair {
    int first, second;
};

pair look(std::atomic<pair> &at)
{
    return at.load();
}

void say(int n)
{
    std::cout << n << std::endl;
}
