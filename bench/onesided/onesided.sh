# SPDX-License-Identifier: MIT
# What it costs to record the data of ranks (record --ranks): one-sided and other applications, 1, 2 and 4 of 8 ranks.
# usage: bench/run onesided [--quick] [PART...]
#   split, tracked, gcc, twosided (default: all these), calls, which the head of onesided.py explains.

onesided()
{
    if [[ ${1:-} = --quick ]]; then
        quick=1
        shift
    fi
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
    python3 "$here/onesided.py" "$(cd "$build" && pwd)" "$mpis" "${quick:-0}" "$@"
}
