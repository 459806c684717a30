# SPDX-License-Identifier: MIT
# Rows of a file by h5py, with messages from anyone.
import sys
from mpi4py import MPI
import h5py, numpy

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
with h5py.File("rows.h5", "w", driver="mpio", comm=comm) as file:
    rows = file.create_dataset("rows", (size * 4, 100), dtype="f8", chunks=(2, 50))
    with rows.collective:
        rows[rank * 4:(rank + 1) * 4, :] = numpy.arange(400).reshape(4, 100) * (rank + 1)
order = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(size - 1)] if rank == 0 else comm.send(rank, 0)
with h5py.File("rows.h5", "r", driver="mpio", comm=comm) as file:
    sys.stdout.write("%d %r %r\n" % (rank, float(file["rows"][:, rank::size].sum()), order))
