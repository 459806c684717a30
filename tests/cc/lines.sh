# SPDX-License-Identifier: MIT
# Command lines: what is added for which, and that the compiler gets everything else as it was.
source "$(dirname "$0")/../lib/cc.sh"
[ -e "$plugins/reprise-ticks-gcc-$(gcc -dumpversion).so" ] || { echo "no plugin for gcc"; exit 77; }
export REPRISE_CC=gcc REPRISE_CXX=g++

expect() { # PLUGIN? COUNTER? WORDS...
    local line
    line=$(reprise-cc --reprise-show "${@:3}") || fail "reprise-cc ${*:3}: status $?"
    [[ "$line " == "gcc ${*:3}"* ]] || fail "words were changed: $line"
    [ "$1" = "$(grep -c -- -fplugin= <<<"$line")" ] || fail "plugin should be $1: $line"
    [ "$2" = "$(grep -c -- /reprise-ticks.o <<<"$line")" ] || fail "counter should be $2: $line"
}
expect 1 1 a.c
expect 1 1 a.c b.c -o c.c
expect 1 1 a.o -lm
expect 1 0 -c a.c
expect 1 0 -c a.c -o a.o -MMD -MF a.d
expect 1 0 -S a.c
expect 0 0 -E a.c
expect 0 0 -M a.c
expect 0 0 -MM a.c
expect 0 0 -c a.s
expect 0 0 -c a.S
expect 0 0 -x assembler -c a.c
expect 1 0 -x c -c a.weird
expect 1 0 -xc -c -
expect 1 1 -x c - -o a
expect 1 0 -c -x c++ a.txt
expect 0 0 -I a.c
expect 0 0 -include a.c
expect 1 1 -shared -fPIC a.c -o a.so
expect 1 0 -shared -fPIC a.c -Wl,--version-script=a.map -o a.so
expect 0 0 -r a.o b.o -o c.o
expect 0 0
expect 0 0 --version
expect 0 0 -v
expect 0 0 -dumpversion
expect 0 0 -dumpmachine
expect 0 0 -print-prog-name=ld
expect 0 0 -print-search-dirs
expect 0 0 -Wl,--version
expect 1 1 -Wl,--as-needed a.c
printf '%s\n' -O2 -c '"with space.c"' >words
expect 1 0 @words
echo @words >more
expect 1 0 @more
echo a.o >objects
expect 1 1 @objects
expect 0 0 a.h
expect 0 0 -x c-header a.h -o a.gch
[ "$(reprise-cc --ticks=off --reprise-show a.c)" = "gcc a.c" ] || fail "--ticks=off adds something"
[[ $(reprise-cc --ticks=calls --reprise-show -c a.c) == "gcc -c a.c -fsanitize-coverage=trace-pc" ]] || fail "--ticks=calls"
[[ $(reprise-c++ --reprise-show -c a.cc) == "g++ -c a.cc -fplugin="* ]] || fail "reprise-c++"
[[ $(reprise-fc --reprise-show -c a.f90) == "gfortran -c a.f90 -fplugin="* ]] || fail "reprise-fc"
[[ $(REPRISE_CC="env A=1 gcc" reprise-cc --reprise-show -c a.c) == "env A=1 gcc -c a.c -fplugin="* ]] || fail "a compiler of several words"
[[ $(reprise-cc --mpi=some --reprise-show --version) == "mpicc.some --version" ]] || fail "--mpi=some"
for words in "-c a.c" "a.c -o a" "--version" "--reprise-show -c a.c" "--ticks=off -c a.c"; do
    said=$(reprise-cc --mpi=some $words 2>&1)
    [ $? -eq 120 ] && [[ $said == *"--mpi=some: there is no mpicc.some on the PATH" ]] || fail "--mpi=some $words: $said"
done

if [ -e "$plugins/reprise-track-gcc-$(gcc -dumpversion).so" ]; then
    [[ $(reprise-cc --track --reprise-show -c a.c) == "gcc -c a.c -fplugin="*/reprise-track-gcc-*.so ]] || fail "--track"
    [[ $(reprise-cc --track --reprise-show a.o) == *reprise-track-hooks.o*reprise-track.o && $(reprise-cc --track --reprise-show a.o) != *reprise-ticks* ]] || fail "--track, linking"
    [[ $(reprise-cc --track --reprise-show -E a.c) == "gcc -E a.c" ]] || fail "--track, -E"
    [ "$(reprise-cc --track=plugin --reprise-show a.c)" = "$(reprise-cc --track --reprise-show a.c)" ] || fail "--track=plugin"
fi
[[ $(reprise-cc --track=calls --reprise-show -c a.c) == "gcc -c a.c -specs="*/reprise-track-calls.specs ]] || fail "--track=calls"
[[ $(reprise-cc --track=calls --reprise-show a.o) == *reprise-track-calls.o*--wrap=memcpy*reprise-track.o && $(reprise-cc --track=calls --reprise-show a.o) != *reprise-track-hooks* ]] || fail "--track=calls, linking"
[[ $(reprise-cc --track=calls --reprise-show -E a.c) == "gcc -E a.c" ]] || fail "--track=calls, -E"
reprise-cc --track=never a.c 2>/dev/null; [ $? -eq 120 ] || fail "--track=never is no error"
reprise-cc --track=off a.c 2>/dev/null; [ $? -eq 120 ] || fail "--track=off is no error"
reprise-cc --track=calls -fsanitize=address -c a.c 2>sanitize.err; [ $? -eq 123 ] && grep -q -- '-fsanitize: code that is tracked by calls' sanitize.err || fail "-fsanitize with --track=calls is no error"
reprise-cc --track=calls -fsanitize=thread a.o 2>/dev/null; [ $? -eq 123 ] || fail "-fsanitize with --track=calls, linking, is no error"

# The answers to questions are the compiler's own.
for question in --version -dumpversion -dumpmachine -print-search-dirs -v -print-multiarch "-E -dM -x c /dev/null"; do
    [ "$(reprise-cc $question 2>&1)" = "$(gcc $question 2>&1)" ] || fail "$question: another answer"
done
reprise-cc --ticks=never a.c 2>/dev/null; [ $? -eq 120 ] || fail "--ticks=never is no error"
reprise-cc mpicc.mpich a.c 2>wrapper.err; [ $? -eq 120 ] && grep -q -- --mpi wrapper.err || fail "an MPI's wrapper as a file is no error"
reprise-cc --reprise-show mpicc.c >/dev/null || fail "mpicc.c is a file"
REPRISE_CC=no-such-compiler reprise-cc -c a.c 2>/dev/null; [ $? -ne 0 ] || fail "a compiler that is not there"
REPRISE_CC=no-such-compiler reprise-cc --version 2>/dev/null; [ $? -eq 120 ] || fail "a compiler that is not there"

# And they work: from standard input, several sources, objects apart, a response file, assembler, a partial link, no input.
echo 'int twice(int x) { return 2 * x; }' >twice.c
echo 'int twice(int); int main(void) { return twice(21) - 42; }' >main.c
good 60 sources reprise-cc -O2 main.c twice.c -o both && ./both || fail "two sources"
good 60 stdin sh -c 'reprise-cc -O2 -x c - twice.c -o both <main.c' && ./both || fail "standard input"
good 60 assemble reprise-cc -O2 -S twice.c && good 60 object reprise-cc -c twice.s && good 60 linked reprise-cc main.c twice.o -o both && ./both || fail "by way of assembler"
good 60 object reprise-cc -c -O2 main.c && good 60 partial reprise-cc -r main.o twice.o -o all.o && good 60 linked reprise-cc all.o -o both && ./both || fail "a partial link"
echo 'main.o twice.o -o both' >objects && good 60 response reprise-cc @objects && ./both || fail "a response file"
reprise-cc -o both 2>/dev/null && fail "no input, and no error"
good 60 static reprise-cc -static main.c twice.c -o both && ./both || fail "a static program"
good 60 lto reprise-cc -flto -O2 main.c twice.c -o both && ./both || fail "-flto"

# Without a plugin for the compiler it counts by calls, or says what is missing.
mkdir -p bare/bin bare/lib/reprise/cc && cp "$build/bin/reprise-cc" bare/bin && cp "$plugins"/*.o bare/lib/reprise/cc
bare/bin/reprise-cc --reprise-show -c a.c | grep -q trace-pc || fail "no plugin, and no calls"
good 60 bare bare/bin/reprise-cc -O2 main.c twice.c -o both && ./both || fail "without a plugin"
run 60 missing bare/bin/reprise-cc --ticks=plugin -c main.c
[ "$status" -eq 123 ] && grep -q 'no plugin of reprise for gcc' missing.err || fail "--ticks=plugin without a plugin: status $status"
echo "command lines agree"
