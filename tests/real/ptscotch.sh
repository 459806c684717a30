# SPDX-License-Identifier: MIT
# Parallel orderings of a graph. With one thread a rank: more of them share memory without locks, and what they compute differs from run to run (docs/model.md).
packages=(ptscotch scotch)
inputs() { gmk_m2 100 100 grid.grf; }
results() { md5sum grid.ord; }
export SCOTCH_PTHREAD_NUMBER=1
app() { try ptscotch openmpi 4 dgord grid.grf grid.ord; }
