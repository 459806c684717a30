/* SPDX-License-Identifier: MIT */
/* A receive through functions that are named like those of Boost.MPI. */
#include <mpi.h>

namespace boost
{
namespace mpi
{
struct communicator {
    template <class T> __attribute__((noinline)) T recv(int tag) const
    {
        T value[2] = {0, 1};
        MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return value[0] + value[1];
    }
};
} // namespace mpi
} // namespace boost
namespace own
{
__attribute__((noinline)) int step(const boost::mpi::communicator &c)
{
    return c.recv<int>(5) * 2; /* step */
}
} // namespace own
int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        sum += own::step(boost::mpi::communicator());
    MPI_Finalize();
    return sum == 1;
}
