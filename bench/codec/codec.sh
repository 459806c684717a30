# SPDX-License-Identifier: MIT
# How small the codecs make the events of programs, and how fast they are.
# usage: bench/run codec [--quick] [STREAM...]
#   STREAM is one of those that 'bench/run codec --list' names: a program's record with the clocks of its messages.
#   codec_bench.c encodes and decodes it; codec_fields.c tells what each field costs.

stream_names="particles8 particles16 particles32 randomaccess treesearch masterworker sparse jacobi"

# RandomAccess among HPCC's other programs, with small matrices.
hpcc_input() { sed 's/^1000 /200 /; s/^80 /20 /' /usr/share/doc/hpcc/examples/_hpccinf.txt; }

record_stream()
{
    local name=$1 ranks=8 mpi=${mpis%% *} size=${quick:+4} command
    : "${size:=1}"
    case $name in
    particles*) ranks=${name#particles}; command=("$build/apps/$mpi/particles" --size $((80000 / size))) ;;
    randomaccess) command=(hpcc) ;;
    treesearch) command=("$build/apps/$mpi/treesearch") ;;
    masterworker) command=("$build/apps/$mpi/masterworker" --size $((400000 / size))) ;;
    sparse) command=("$build/apps/$mpi/sparse") ;;
    jacobi) command=("$build/apps/$mpi/jacobi" --edge 64 --size $((120000 / size))) ;;
    *) fail "no stream '$name': $stream_names" ;;
    esac
    say "recording $name: $ranks ranks of $mpi"
    mkdir -p "$work/$name" && cd "$work/$name"
    if [[ $name = randomaccess ]]; then
        [[ -x /usr/bin/hpcc ]] || { say "randomaccess: no hpcc here (Debian package hpcc), left out"; return 1; }
        mpi=openmpi
        hpcc_input >hpccinf.txt
    fi
    REPRISE_CLOCKS=1 timeout 600 "$reprise" record -o "$work/$name/run" "mpirun.$mpi" -n "$ranks" "${command[@]}" >"$work/out" 2>"$work/err" || {
        tail -n 20 "$work/err" >&2
        fail "recording $name failed"
    }
}

codec()
{
    local name streams=()
    for name in "$@"; do
        case $name in
        --quick) quick=1 ;;
        --list) echo "$stream_names"; return ;;
        *) streams+=("$name") ;;
        esac
    done
    [[ ${#streams[@]} -gt 0 ]] || read -ra streams <<<"$stream_names"
    build=$(cd "$build" && pwd)
    reprise=$build/bin/reprise
    gcc -O3 -I"$top/src" -o "$work/codec" "$here/codec_bench.c" "$here/codec_fields.c" "$build/libcore.a" -lzstd -lz -lxxhash -lunwind -lm -lpthread -ldl
    for name in "${streams[@]}"; do
        if (record_stream "$name"); then
            "$work/codec" "$name" "$work/$name/run" >>"$work/raw"
        fi
    done
    python3 "$here/codec.py" "$work/raw"
}
