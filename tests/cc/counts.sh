# SPDX-License-Identifier: MIT
# Programs count the same in every run, at every address, more for more work; threads count for themselves; without reprise-cc's help at run time.
source "$(dirname "$0")/../lib/cc.sh"


check() { # NAME PROGRAM: the same 20 times, more for more
    local name=$1 program=$2 i less more key
    [ "$(cat /proc/sys/kernel/randomize_va_space)" -gt 0 ] || echo "addresses are not random here"
    for ((i = 0; i < 20; i++)); do
        env "PAD=$(printf %$((i * 37))s)" timeout 60 "$program" 60 >"$name.$i" || fail "$name: status $?"
        cmp -s "$name.0" "$name.$i" || { diff "$name.0" "$name.$i" >differs.out; fail "$name: run $i counts otherwise"; }
    done
    timeout 60 "$program" 120 >"$name.more" || fail "$name: status $?"
    while read -r key less; do
        more=$(sed -n "s/^$key //p" "$name.more")
        case $key in
        thread-*) [ "$less" -gt 1000 ] && [ "$less" = "$(sed -n 's/^thread-0 //p' "$name.0")" ] || fail "$name: $key counts $less" ;;
        main-thread) [ "$less" -lt 1000 ] || fail "$name: threads count on the main thread: $less" ;;
        *) [ "$less" -gt 50 ] && [ $((more * 2)) -gt $((less * 3)) ] || fail "$name: $key counts $less, then $more for twice the work" ;;
        esac
    done <"$name.0"
}

while read -r compiler how; do
    [ $compiler = gcc ] && cxx=g++ || cxx=clang++
    for level in -O0 -O2 "-O3 -fPIC" "-O2 -flto"; do
        name=$compiler-$how${level// /}
        REPRISE_CC=$compiler good 100 build reprise-cc "--ticks=$how" $level "$programs/counts_work.c" ticks_now.o -pthread -o "$name"
        check "$name" "./$name"
    done
    REPRISE_CXX=$cxx good 100 build reprise-c++ "--ticks=$how" -O2 "$programs/counts_throws.cpp" ticks_now.o -o "$compiler-$how-throws"
    check "$compiler-$how-throws" "./$compiler-$how-throws"
    if [ $compiler = gcc ] && command -v gfortran >/dev/null; then
        good 100 build reprise-fc "--ticks=$how" -O2 "$programs/counts_waves.f90" ticks_now.o -o "fortran-$how"
        check "fortran-$how" "./fortran-$how"
    fi
    echo "$compiler, $how: counts are the same"
done < <(ways)
