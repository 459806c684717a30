# SPDX-License-Identifier: MIT
# R by Rmpi: results from anyone, and slaves that it starts itself.
packages=(r-base-core r-cran-rmpi)
inputs() {
    cp "$programs/rmpi_master.R" master.R
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
    try 'rmpi by spawn' openmpi 1 Rscript spawn.R
}
