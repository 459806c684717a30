# SPDX-License-Identifier: MIT
# What recording and replay cost: instructions a call, ping-pong, applications, memory.
# usage: bench/run overhead [--quick] [PART...]
#   instructions   instructions that reprise adds to each MPI call (calls.c on top of nullmpi.c, under callgrind)
#   pingpong       time of half a round trip (pingpong.c)
#   applications   time of the apps
#   memory         of a receive that stays pending for many events (pending.c)
#   envelope       ping-pong with clocks in the messages, by size; only if asked for
#   calls          records each call that 'instructions' counts once, and counts nothing; only if asked for

# Building

soname_of() { case $1 in openmpi) echo libmpi.so.40 ;; mpich) echo libmpich.so.12 ;; abi) echo libmpi_abi.so.1 ;; *) fail "no MPI '$1'" ;; esac; }

build_programs()
{
    local mpi=$1 at=$work/$1 so
    so=$(soname_of "$mpi")
    mkdir -p "$at/null"
    for program in pingpong pending; do
        "mpicc.$mpi" -O2 -o "$at/$program" "$here/$program.c"
    done
    local header includes
    echo '#include <mpi.h>' >"$at/includes.c"
    header=$("mpicc.$mpi" -M "$at/includes.c" 2>/dev/null | tr ' ' '\n' | grep '/mpi\.h$' | head -n 1)
    includes=(-I"$(dirname "$header")")
    gcc -O2 -std=gnu11 "${includes[@]}" -shared -fPIC "-Wl,-soname,$so" -o "$at/null/$so" "$here/nullmpi.c"
    gcc -O2 -std=gnu11 -g "${includes[@]}" -o "$at/calls" "$here/calls.c" -L"$at/null" "-l:$so"
}

# Instructions

count()
{
    local mpi=$1 case=$2 mode=$3 iterations=$4 events=0
    rm -f "$work"/callgrind*
    attempt 120 "$mode" valgrind -q --tool=callgrind --separate-threads=yes --collect-atstart=no \
        "--callgrind-out-file=$work/callgrind" "$work/$mpi/calls" "$case" "$iterations"
    if [[ $mode = record ]]; then
        events=$(sed -n 's/^reprise: recorded \([0-9]*\) events.*/\1/p' "$work/err")
    fi
    # Thread 1 is the application's.
    note count "$mpi" "$case" "$mode" "$iterations" "$(sed -n 's/^totals: //p' "$work/callgrind-01")" "$events"
}

calls()
{
    local mpi case rest
    for mpi in $mpis; do
        export LD_LIBRARY_PATH=$work/$mpi/null
        "$work/$mpi/calls" --list >"$work/cases"
        while IFS=$'\t' read -r case rest <&3; do
            attempt 60 record "$work/$mpi/calls" "$case" 10
        done 3<"$work/cases"
        unset LD_LIBRARY_PATH
        say "calls, $mpi: $(wc -l <"$work/cases") recorded"
    done
}

instructions()
{
    local mpi case group title minus mode iterations counted=$mpis
    [[ -z $quick ]] || counted=${mpis%% *}
    for mpi in $counted; do
        say "instructions, $mpi"
        export LD_LIBRARY_PATH=$work/$mpi/null
        "$work/$mpi/calls" --list >"$work/cases"
        while IFS=$'\t' read -r case group title minus <&3; do
            note case "$case" "$group" "$title" "$minus"
            for mode in native record; do
                for iterations in 100 500; do # never so many that the ring gets half full
                    count "$mpi" "$case" "$mode" "$iterations"
                done
            done
        done 3<"$work/cases"
        unset LD_LIBRARY_PATH
    done
}

# Times

pingpong()
{
    local rounds=${quick:+7} seconds=${quick:+0.2} mpi round mode way time
    : "${rounds:=20}" "${seconds:=0.3}"
    for mpi in $mpis; do
        say "ping-pong, $mpi: $rounds rounds of native, record, native"
        for ((round = 0; round < rounds; round++)); do
            for mode in native record native-again; do
                attempt 60 "$mode" "mpirun.$mpi" -n 2 "$work/$mpi/pingpong" "$seconds"
                while read -r way time; do
                    note time "$mpi" "$way" "$mode" "$round" "$time"
                done < <(grep ^pp "$work/out")
            done
        done
    done
}

envelope()
{
    local rounds=${quick:+5} seconds=${quick:+0.1} mpi round mode way time
    : "${rounds:=15}" "${seconds:=0.2}"
    for mpi in $mpis; do
        say "envelopes, $mpi: $rounds rounds of native, record, with clocks"
        for ((round = 0; round < rounds; round++)); do
            for mode in native record clocks native-again; do
                attempt 60 "$mode" "mpirun.$mpi" -n 2 "$work/$mpi/pingpong" "$seconds" 8 1024 8192 65536 262144 1048576
                while read -r way time; do
                    note time "$mpi" "$way" "$mode" "$round" "$time"
                done < <(grep ^pp "$work/out")
            done
        done
    done
}

time_application()
{
    local mpi=$1 rounds=$2 round mode start
    shift 2
    say "$1, $mpi: $rounds rounds of native, record, replay, native"
    for ((round = 0; round < rounds; round++)); do
        for mode in native record replay native-again; do
            start=${EPOCHREALTIME/[.,]/}
            attempt 120 "$mode" "mpirun.$mpi" -n 8 "$build/apps/$mpi/$1" "${@:2}"
            note time "$mpi" "$1" "$mode" "$round" "$((${EPOCHREALTIME/[.,]/} - start))"
            if [[ $mode = replay ]] && ! grep -q identical "$work/err"; then
                fail "the replay of $1 was not identical"
            fi
        done
    done
}

applications()
{
    local rounds=${quick:+1} mpi
    : "${rounds:=15}"
    for mpi in $mpis; do
        time_application "$mpi" "$rounds" particles --size "$([[ $mpi = openmpi ]] && echo 80000 || echo 100000)"
        time_application "$mpi" "$rounds" masterworker --work 0 --size "$([[ $mpi = openmpi ]] && echo 900000 || echo 700000)"
    done
}

# Memory

memory()
{
    local most=${quick:+1000000} mpi mode events
    : "${most:=10000000}"
    for mpi in $mpis; do
        for events in 1000 "$most"; do
            say "memory, $mpi: a receive pending for $events events"
            for mode in native record replay; do
                attempt 300 "$mode" "mpirun.$mpi" -n 1 "$work/$mpi/pending" "$events"
                note memory "$mpi" "$events" "$mode" "$(sed -n 's/^peak //p' "$work/out")"
            done
        done
    done
}

overhead()
{
    local part mpi parts=()
    for part in "$@"; do
        case $part in
        --quick) quick=1 ;;
        instructions | pingpong | applications | memory | envelope | calls) parts+=("$part") ;;
        *) usage >&2; fail "no part '$part'" ;;
        esac
    done
    [[ ${#parts[@]} -gt 0 ]] || parts=(instructions pingpong applications memory)
    [[ -x $build/bin/reprise ]] || fail "no $build/bin/reprise: build the project, or set BENCH_BUILD"
    build=$(cd "$build" && pwd)
    reprise=$build/bin/reprise
    for mpi in $mpis; do
        build_programs "$mpi"
    done
    for part in "${parts[@]}"; do
        "$part"
    done
    python3 "$here/overhead.py" "$work/raw"
}
