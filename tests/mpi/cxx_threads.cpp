/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: refused: by another thread
// native: differs
// about: C++: std::thread, std::mutex and std::condition_variable around wildcard receives,
//     exceptions that pass MPI calls
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

constexpr int messages = 12, workers = 3;
int rank_, size_;
bool down;
std::mutex lock;
std::condition_variable filled;
std::deque<long> queue;
bool closed;

struct Hash {
    unsigned long long value = 0;
    void note(long long x)
    {
        value = (value ^ static_cast<unsigned long long>(x + 1)) * 0x9e3779b97f4a7c15ull,
        value ^= value >> 29;
    }
};

void pace(int place, int of)
{
    std::this_thread::sleep_for(std::chrono::milliseconds((down ? of - 1 - place : place) * 5));
}

/* Throws every third message, past the receive. */
long receive(int tag, MPI_Status &status)
{
    long value = -1;
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    if (value % 3 == 0)
        throw std::runtime_error(std::to_string(value));
    return value;
}

void receiver(Hash &hash)
{
    for (int i = 0; i < messages * (size_ - 1); i++) {
        MPI_Status status;
        long value;
        try {
            value = receive(1, status);
        } catch (const std::runtime_error &error) {
            value = std::atol(error.what());
        }
        hash.note(value), hash.note(status.MPI_SOURCE);
        std::lock_guard<std::mutex> guard(lock);
        queue.push_back(value);
        filled.notify_one();
    }
    std::lock_guard<std::mutex> guard(lock);
    closed = true;
    filled.notify_all();
}

void worker(int number, Hash &hash)
{
    for (;;) {
        std::unique_lock<std::mutex> guard(lock);
        filled.wait(guard, [] { return !queue.empty() || closed; });
        if (queue.empty())
            return;
        long value = queue.front();
        queue.pop_front();
        guard.unlock();
        hash.note(value);
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_LONG, rank_, 100 + number, MPI_COMM_WORLD, &request);
        long back = -1;
        MPI_Recv(&back, 1, MPI_LONG, rank_, 100 + number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (back != value)
            std::fprintf(stderr, "CHECK FAILED: %ld, not %ld\n", back, value),
                MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

} // namespace

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank_ == 0)
            std::puts("SKIP");
        MPI_Finalize();
        return 0;
    }
    const char *order = std::getenv("TEST_ORDER");
    down = order && std::strcmp(order, "down") == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<Hash> hashes(workers + 1);
    std::vector<std::thread> threads;
    threads.emplace_back(receiver, std::ref(hashes[workers]));
    for (int i = 0; i < workers; i++)
        threads.emplace_back(worker, i, std::ref(hashes[i]));
    for (int i = 0; i < messages; i++) {
        pace(rank_, size_);
        for (int r = 0; r < size_; r++) {
            long value = rank_ * 1000 + i;
            if (r != rank_)
                MPI_Send(&value, 1, MPI_LONG, r, 1, MPI_COMM_WORLD);
        }
    }
    for (auto &thread : threads)
        thread.join();
    unsigned long long mine = 0, all = 0;
    for (auto &hash : hashes)
        mine = mine * 31 + hash.value;
    mine *= static_cast<unsigned long long>(2 * rank_ + 1);
    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank_ == 0)
        std::printf("RESULT hash=%016llx\n", all);
    MPI_Finalize();
    return 0;
}
