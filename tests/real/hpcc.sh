# SPDX-License-Identifier: MIT
# The HPC Challenge benchmarks: receives from anyone that are tested, waited for and cancelled, and probes.
packages=(hpcc)
captures=time # how many updates it makes depends on how long the first take
inputs() { sed 's/^1000 /200 /; s/^80 /20 /' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt; }
results() { grep -E '^[A-Za-z_]*(Success|_Errors|_ExeUpdates|_N|norm[1I]|_residual|_maxErr)=|_oo.*(PASSED|FAILED)|Found' hpccoutf.txt; }
app() { try hpcc openmpi 4 hpcc; }
