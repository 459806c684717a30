# SPDX-License-Identifier: MIT
# What it costs that code counts what it executes (reprise-cc): kernels (kernels.c), ratio to the same compiler's -O2.
# usage: bench/run ticks [--quick] [PART...]
#   gcc, clang (default: both), calls (gcc without the plugin)

kernel_scales="stencil:100 spmv:60 ep:30 is:100 chain:150 fib:300 queens:800 trees:300"

# Where code lies changes the time of short loops by more than counting does: each is linked at several places.
places=7

build_kernels()
{
    local way=$1 cc=${1/calls/gcc} how=plugin place
    [[ $way != calls ]] || how=calls
    "$cc" -O2 -c "$here/kernels.c" -o "$work/plain.o"
    REPRISE_CC=$cc "$build/bin/reprise-cc" "--ticks=$how" -O2 -c "$here/kernels.c" -o "$work/counted.o"
    for ((place = 0; place < places; place++)); do
        printf '.text\n.skip %d\n' $((place * 20)) >"$work/place.s"
        "$cc" "$work/place.s" "$work/plain.o" -o "$work/$way-plain-$place" -lm
        REPRISE_CC=$cc "$build/bin/reprise-cc" "--ticks=$how" "$work/place.s" "$work/counted.o" -o "$work/$way-counted-$place" -lm
    done
}

kernel_instructions()
{
    local kernel=$1 way=$2 mode
    for mode in plain counted; do
        valgrind --tool=callgrind "--callgrind-out-file=$work/callgrind" "$work/$way-$mode-0" "$kernel" 4 >/dev/null 2>"$work/err" || fail "callgrind: $kernel, $way"
        note count "$way" "$kernel" "$mode" "$(sed -n 's/.*Collected : //p' "$work/err")"
    done
}

kernel_times()
{
    local kernel=$1 scale=$2 way=$3 rounds=${quick:+7} round mode
    : "${rounds:=21}"
    for ((round = 0; round < rounds; round++)); do
        for mode in plain counted; do
            note time "$way" "$kernel" "$mode" "$("$work/$way-$mode-$((round % places))" "$kernel" "$scale" | cut -d' ' -f2- | tr ' ' '\t')"
        done
    done
}

ticks()
{
    local way entry ways=()
    for way in "$@"; do
        case $way in
        --quick) quick=1 ;;
        gcc | clang | calls) ways+=("$way") ;;
        *) usage >&2; fail "no part '$way'" ;;
        esac
    done
    [[ ${#ways[@]} -gt 0 ]] || ways=(gcc clang)
    for way in "${ways[@]}"; do
        build_kernels "$way"
        for entry in $kernel_scales; do
            say "${entry%:*}, $way"
            kernel_instructions "${entry%:*}" "$way"
            kernel_times "${entry%:*}" "${entry#*:}" "$way"
        done
    done
    python3 "$here/ticks.py" "$work/raw"
}
