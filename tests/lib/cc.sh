# SPDX-License-Identifier: MIT
# Shared by the tests of reprise-cc: its compilers, and a way for programs to ask for their ticks.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export PATH=$build/bin:$PATH
plugins=$build/lib/reprise/cc

# The ways to count that are there, each as "COMPILER HOW".
ways() {
    [ -e "$plugins/reprise-ticks-gcc-$(gcc -dumpversion).so" ] && echo gcc plugin
    command -v clang >/dev/null && [ -e "$plugins/reprise-ticks-llvm-$(clang -dumpversion | cut -d. -f1).so" ] && echo clang plugin
    echo gcc calls
}

# SECONDS NAME COMMAND...: must succeed
good() { run "$@"; [ "$status" -eq 0 ] || fail "$2: status $status: ${*:3}"; }

gcc -D_GNU_SOURCE -O2 -fPIC -c "$programs/ticks_now.c" -o ticks_now.o || fail "ticks_now.c does not compile"
