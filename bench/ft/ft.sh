# SPDX-License-Identifier: MIT
# What surviving dead ranks costs (reprise ft): without failures, in memory, recovery; local against global rollback.
# usage: bench/run ft [--quick] [PART...]
#   overhead, recovery, rollback (default: all), which the head of ft.py explains. Needs an MPI with ULFM.

ft() { BENCH_BUILD=$build python3 "$here/ft.py" "$@"; }
