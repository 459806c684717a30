/* SPDX-License-Identifier: MIT */
/* Serialised objects from anyone, requests in any order, a reduction of strings. */
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cmath>
#include <iostream>

namespace mpi = boost::mpi;
static std::vector<std::string> order;

static double work(int n)
{
    double x = n;
    for (int i = 0; i < 20000 * (n % 5); i++)
        x = std::sin(x) + n;
    return x;
}

static void give_out(mpi::communicator &world, int jobs)
{
    std::map<int, double> all;
    double sum = 0;
    int next = 0;
    for (int running = world.size() - 1; running > 0;) {
        std::map<int, double> some;
        mpi::status status = world.probe(mpi::any_source, mpi::any_tag);
        world.recv(status.source(), status.tag(), some);
        all.insert(some.begin(), some.end());
        order.push_back(std::to_string(status.source()) + ":" + std::to_string(some.size()));
        int job = next < jobs ? next++ : -1;
        running -= job < 0;
        world.send(status.source(), 1, job);
    }
    for (auto &one : all)
        sum += one.second;
    std::cout << "sum " << sum << " of " << all.size() << std::endl;
}

static void take(mpi::communicator &world)
{
    std::map<int, double> done;
    for (int job = 0;;) {
        world.send(0, world.rank() % 3, done);
        world.recv(0, 1, job);
        if (job < 0)
            return;
        done[job] = work(job);
    }
}

static void exchange(mpi::communicator &world, int round)
{
    std::vector<mpi::request> requests;
    std::vector<std::string> in(world.size());
    for (int i = 0; i < world.size(); i++)
        if (i != world.rank())
            requests.push_back(world.irecv(mpi::any_source, 5, in[i]));
    work(round * 3 + world.rank());
    for (int i = 0; i < world.size(); i++)
        if (i != world.rank())
            requests.push_back(
                world.isend(i, 5, std::string(world.rank() * 10 + 1, 'a' + world.rank())));
    auto first = mpi::wait_any(requests.begin(), requests.end());
    order.push_back(std::to_string(first.second - requests.begin()));
    requests.erase(first.second);
    mpi::wait_all(requests.begin(), requests.end());
    for (auto &text : in)
        order.push_back(text.substr(0, 1));
}

struct longer {
    std::string operator()(const std::string &a, const std::string &b) const
    {
        return a.size() > b.size() ? a : b;
    }
};

int main(int argc, char **argv)
{
    mpi::environment environment(argc, argv);
    mpi::communicator world;
    std::vector<std::vector<std::string>> orders;
    if (world.rank() == 0)
        give_out(world, 60);
    else
        take(world);
    world.barrier();
    for (int round = 0; round < 30; round++)
        exchange(world, round);
    std::string longest = mpi::all_reduce(world, std::string(world.rank() * 7 % 11, 'x'), longer());
    mpi::gather(world, order, orders, 0);
    for (auto &one : orders) {
        for (auto &text : one)
            std::cout << text << ' ';
        std::cout << std::endl;
    }
    if (world.rank() == 0)
        std::cout << longest << std::endl;
}
