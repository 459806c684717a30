# SPDX-License-Identifier: MIT
# R by Rmpi: results from anyone, and slaves that it starts itself, which is refused.
packages=(r-base-core r-cran-rmpi)
inputs() {
    cat >master.R <<'END'
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
END
    cat >spawn.R <<'END'
library(Rmpi)
mpi.spawn.Rslaves(nslaves = 2)
mpi.quit()
END
}
results() { grep '^RESULT' "$1"; }
app() {
    flags=(--mpi openmpi)
    try rmpi openmpi 3 Rscript master.R
    refuses='MPI_Comm_spawn cannot be replayed yet'
    try 'rmpi by spawn' openmpi 1 Rscript spawn.R
}
