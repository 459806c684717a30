# SPDX-License-Identifier: MIT
# Libraries: static, shared, loaded later; whoever is compiled by reprise-cc, there is one counter a thread, and programs run without it.
source "$(dirname "$0")/../lib/cc.sh"

echo 'int spin(const char *text) { int n = 0; while (text[n]) n += text[n] == 98 ? 2 : 1; return n; }' >spin.c
echo '{ global: spin; local: *; };' >spin.map
says() { # WHAT COMMAND...
    good 60 said "${@:2}"
    [ "$(cat said.out)" = "$1" ] || fail "line ${BASH_LINENO[0]}, $compiler, $how: ${*:2} says $(cat said.out), not $1"
}
while read -r compiler how; do
    export REPRISE_CC=$compiler
    cc="reprise-cc --ticks=$how -O2"
    good 60 build $cc -c spin.c -o spin.o && ar rcs libspin_static.a spin.o
    good 60 build $cc "$programs/libraries_main.c" ticks_now.o -L. -lspin_static -o main && says counts ./main
    good 60 build $cc -shared -fPIC spin.c -o libspin.so
    good 60 build $cc "$programs/libraries_main.c" ticks_now.o -L. -lspin -Wl,-rpath,. -o main && says counts ./main
    says counts ./main ./libspin.so # the program's own counter, from a library that is loaded later
    good 60 build $compiler -O2 -c spin.c -o spin.o && good 60 build $compiler -O2 "$programs/libraries_main.c" spin.o ticks_now.o -o main
    LD_PRELOAD=$plugins/libreprise-ticks.so says counts ./main ./libspin.so # a program without one
    good 60 build $compiler -O2 "$programs/libraries_main.c" ticks_now.o -L. -lspin -Wl,-rpath,. -o main && says counts ./main # the library's counter alone
    good 60 build $cc -shared -fPIC -Wl,-Bsymbolic spin.c -o libspin.so && good 60 build $cc "$programs/libraries_main.c" ticks_now.o -L. -lspin -Wl,-rpath,. -o main && says counts ./main
    good 60 build $cc -shared -fPIC -Wl,--version-script=spin.map -Wl,-z,defs spin.c -o libspin.so # exports what it says alone
    good 60 build $cc "$programs/libraries_main.c" ticks_now.o -L. -lspin -Wl,-rpath,. -o main && says counts ./main
    if [ "$how" = plugin ]; then # linked without us, for a program with us
        good 60 build $cc -c -fPIC spin.c -o spin.o && good 60 build $compiler -shared spin.o -o libspin.so
        good 60 build $cc "$programs/libraries_main.c" ticks_now.o -L. -lspin -Wl,-rpath,. -o main && says counts ./main
    fi
    good 60 build $compiler -O2 -c spin.c -o spin.o && good 60 build $compiler "$programs/libraries_main.c" spin.o ticks_now.o -o main && says "does not count" ./main
    for linker in gold lld; do
        command -v ld.$linker >/dev/null || continue
        good 60 build $cc -fuse-ld=$linker "$programs/libraries_main.c" spin.c ticks_now.o -o main && says counts ./main
    done
    echo "$compiler, $how: one counter"
done < <(ways)
