# SPDX-License-Identifier: MIT
# Results from anyone.
library(Rmpi)
rank <- mpi.comm.rank(0)
size <- mpi.comm.size(0)
start <- mpi.bcast(if (rank == 0) as.double(7) else double(1), 2, 0, 0)
if (rank > 0) {
    for (round in 1:20) mpi.send.Robj(list(rank = rank, value = start * rank + round), 0, round, 0)
} else {
    for (message in 1:(20 * (size - 1))) {
        found <- mpi.recv.Robj(mpi.any.source(), mpi.any.tag(), 0)
        cat("RESULT", found$rank, found$value, mpi.get.sourcetag(), "\n")
    }
}
invisible(mpi.barrier(0))
mpi.quit()
