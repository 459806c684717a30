# SPDX-License-Identifier: MIT
# The tutorial is true: its commands run as docs/tutorial.md has them, and print the lines that it
# shows. Numbers, digests, addresses and directories may differ.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
tree=$(cd "$(dirname "$0")/../.." && pwd)
for tool in gdb patch; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
mkdir bin && ln -s "$tree/docs" docs
for tool in mpicc mpirun; do
    printf '#!/bin/sh\nexec %s.%s "$@"\n' "$tool" "$mpi" >"bin/$tool" && chmod +x "bin/$tool"
done
PATH=$work/bin:$build/bin:$PATH

plain() { # lines without what differs from run to run
    sed -E 's/(0x)?[0-9a-f]{12,16}/HEX/g; s/"mandel" hit //; s/Thread [0-9]+ //
            s,/[^ ]*/mandel,mandel,g; s/[0-9]+(\.[0-9]+)?/0/g; s/ +/ /g'
}

compare() { # COMMAND: the lines that the document shows, in the file `shown`, are in step.out
    case $1 in
    mpirun*) return ;; # this one may fail or not
    esac
    plain <"$work/step.out" >"$work/step.plain"
    grep -vxF ... "$work/shown" | plain | while IFS= read -r line; do
        grep -qxF -- "$line" "$work/step.plain" || { echo "not printed: $line"; exit 1; }
    done || fail "'$1' does not print what docs/tutorial.md shows"
}

steps=0
step() { # COMMAND, with the lines that it should print in the file `shown`
    [ -n "$1" ] || return
    steps=$((steps + 1))
    eval "$1" >"$work/step.out" 2>&1 </dev/null
    status=$?
    cp "$work/step.out" "$work/step-$steps.out"
    compare "$1"
    echo "$steps $status $1" >>"$work/statuses"
}

command=
: >"$work/shown"
while IFS= read -r line <&3; do
    case $line in
    '    $ '*)
        step "$command"
        command=${line#    \$ }
        : >"$work/shown"
        ;;
    '    '*) echo "${line#    }" >>"$work/shown" ;;
    *)
        step "$command"
        command=
        : >"$work/shown"
        ;;
    esac
done 3<"$tree/docs/tutorial.md"

# What the numbers must be.
[ "$steps" -eq 11 ] || fail "$steps commands, not 11"
status_of() { sed -nE "s/^$1 ([0-9]+) .*/\1/p" "$work/statuses"; }
[ "$(status_of 4)" -eq 1 ] || fail "stress found nothing in the program with the bug"
[ "$(status_of 5)" -eq 1 ] || fail "the replay does not fail"
grep -q '^0 0 RECV .* source=[23] ' "$work/step-7.out" || fail "the failed run began with rank 1"
[ "$(status_of 11)" -eq 0 ] || fail "stress found something in the mended program"
grep -q '^20 runs: all ended; 20 alike, 0 differ' "$work/step-11.out" || fail "the mended runs differ"
