# SPDX-License-Identifier: MIT
# What deterministic execution costs: kernels, a master with workers, numbers of ranks.
# usage: bench/run det [--quick] [PART...]
#   kernels, masterworker, scaling (default: all). Memory is the largest of a rank (peak.c).

time_det()
{
    local mpi=$1 ranks=$2 rounds=$3 modes=$4 app=$5 round mode start program found
    shift 5
    say "$app, $mpi, $ranks ranks: $rounds rounds of $modes"
    for ((round = 0; round < rounds; round++)); do
        for mode in $modes; do
            program=$build/apps/$mpi/$app
            [[ $mode != ticks* ]] || program=$work/$mpi/$app
            start=${EPOCHREALTIME/[.,]/}
            attempt 300 "$mode" "mpirun.$mpi" -n "$ranks" "$work/peak" "$program" "$@"
            found=$(sed -n 's/.*deterministic: \([0-9]*\) matches, \([0-9]*\) answers.*/\1\t\2/p' "$work/err")
            note time "$mpi" "${label:-$app}" "$ranks" "$mode" "$round" "$((${EPOCHREALTIME/[.,]/} - start))" "$(sed -n 's/^peak //p' "$work/err" | sort -n | tail -n 1)" "${found:-$'\t'}"
        done
    done
}

# So that a run takes some seconds, besides its start. On MPICH, whose waits spin, the programs' own sizes do where ranks are more than processors.
kernel_shape() # MPI RANKS APP: sets `shape`
{
    shape=()
    [[ $1 = openmpi || $2 -le $(nproc) ]] || return 0
    case $3 in
    ep) shape=(--size 2048) ;;
    ft) shape=(--work 72) ;;
    lu) shape=(--work 200) ;;
    mg) shape=(--work 120) ;;
    polls) shape=(--size 48000) ;;
    esac
    [[ $2 -le $(nproc) ]] || return 0
    case $3 in
    cg | is) shape=(--work 60) ;;
    polls) shape=(--size 480000) ;;
    esac
}

# Many ranks, which share processors, and as many as there are processors: there a rank that waits takes no time from others.
kernel_ranks=${BENCH_RANKS:-8 $(nproc)}

kernels()
{
    local mpi ranks app shape
    for mpi in $mpis; do
        for ranks in $kernel_ranks; do
            for app in cg ep ft is lu mg polls; do
                kernel_shape "$mpi" "$ranks" "$app"
                time_det "$mpi" "$ranks" "${rounds_of_det:-5}" "native det" "$app" "${shape[@]}"
            done
        done
    done
}

# Tasks of very different lengths, one in sixteen 64 times as long: short ones of some 0.3 ms, and of some microseconds, which take less time than a message. The program is compiled by reprise-cc too,
# where that is built.
masterworker()
{
    local mpi ranks modes
    for mpi in $mpis; do
        modes="native det"
        if [[ -x $build/bin/reprise-cc ]]; then
            mkdir -p "$work/$mpi"
            OMPI_CC=$build/bin/reprise-cc MPICH_CC=$build/bin/reprise-cc "mpicc.$mpi" -O2 -o "$work/$mpi/masterworker" "$top/apps/masterworker.c" "$top/apps/app.c" -lm
            modes="native det ticks ticks-det"
        fi
        for ranks in 4 8; do
            time_det "$mpi" "$ranks" "${rounds_of_det:-5}" "$modes" masterworker --skew 64 --work 200000 --size 2500
            label=tinytasks time_det "$mpi" "$ranks" "${rounds_of_det:-5}" "$modes" masterworker --skew 64 --size 60000
        done
    done
}

scaling()
{
    local mpi app ranks
    for mpi in $mpis; do
        for app in lu mg polls cg; do
            for ranks in 2 4 16 32; do
                label=$app-short time_det "$mpi" "$ranks" "${rounds_of_det:-3}" "native det" "$app"
            done
        done
    done
}

det()
{
    local part parts=()
    for part in "$@"; do
        case $part in
        --quick) rounds_of_det=1 ;;
        kernels | masterworker | scaling) parts+=("$part") ;;
        *) usage >&2; fail "no part '$part'" ;;
        esac
    done
    [[ ${#parts[@]} -gt 0 ]] || parts=(kernels masterworker scaling)
    build=$(cd "$build" && pwd)
    reprise=$build/bin/reprise
    gcc -O2 -o "$work/peak" "$here/peak.c"
    for part in "${parts[@]}"; do
        "$part"
    done
    python3 "$here/det.py" "$work/raw"
}
