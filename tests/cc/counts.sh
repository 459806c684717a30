# SPDX-License-Identifier: MIT
# Programs count the same in every run, at every address, more for more work; threads count for themselves; without reprise-cc's help at run time.
source "$(dirname "$0")/../lib/cc.sh"

cat >work.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
uint64_t ticks_now(void);
static volatile int sink;
static long recurse(int n) { return n < 2 ? n : recurse(n - 1) + recurse(n - 2); }
static int even(unsigned n);
__attribute__((noinline)) static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1) + (int)(n & sink); }
__attribute__((noinline)) static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1) + (int)(n & sink); }
__attribute__((noinline, pure)) static int search(const char *text, char what) { const char *at = text; while (*at && *at != what) at++; return (int)(at - text); }
__attribute__((noinline)) static void nest(int n, double *a) { for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < 3; k++) a[j] += a[i] * k; }
static int jumps(int n) { static jmp_buf where; volatile int times = 0; if (setjmp(where) < n) { times++; longjmp(where, times); } return times; }
static int machine(int n) /* computed jumps: no loop that a compiler would call one */
{
    static const void *const next[] = {&&one, &&two, &&done};
    int at = 0;
one: at++; goto *next[at >= n ? 2 : at % 2];
two: at += 2; goto *next[at >= n ? 2 : at % 2];
done: return at;
}
static int tangled(int n, int from) { int at = 0; if (from) goto inside; outside: at += 3; inside: at += 1; if (at < n) { if (at & 1) goto outside; goto inside; } return at; }
__attribute__((noinline)) static void copy(int n, char *to, const char *from) { for (int i = 0; i < n; i++) to[i] = from[i]; } /* becomes memcpy */
static uint64_t last;
static int backwards;
static int compare(const void *a, const void *b) { int n = 0; for (const char *at = "some steps"; *at; at++) n += *at & sink; backwards |= ticks_now() < last; last = ticks_now(); return *(const int *)a - *(const int *)b + (n < 0); }
__attribute__((noinline)) static int sorts(int n) { int some[8] = {3, 1, 4, 1, 5, 9, 2, 6}, all = n; while (n) { qsort(some, 8, sizeof *some, compare); some[n & 7] ^= 5; n -= 1 + (some[0] > 100); } return some[all & 7]; }
static void *thread(void *n) { uint64_t before = ticks_now(); sink += (int)recurse(*(int *)n); uint64_t *result = malloc(sizeof *result); *result = ticks_now() - before; return result; }
#define COUNT(name, code) do { uint64_t before = ticks_now(); code; printf("%s %llu\n", name, (unsigned long long)(ticks_now() - before)); } while (0)
int main(int argc, char **argv)
{
    int n = atoi(argv[argc - 1]);
    double *a = calloc((size_t)n + 1, sizeof *a);
    char *text = calloc((size_t)n * 50 + 1, 1);
    memset(text, 'a', (size_t)n * 50);
    COUNT("recursion", sink += (int)recurse(10 + n / 10));
    COUNT("mutual", sink += even((unsigned)n * 20));
    COUNT("search", sink += search(text, 'b'));
    COUNT("nest", nest(n, a));
    COUNT("jumps", sink += jumps(n));
    COUNT("machine", sink += machine(n * 10));
    COUNT("tangled", sink += tangled(n * 10, n & 1));
    char *other = malloc((size_t)n * 50 + 1);
    COUNT("copy", copy(n * 50, other, text); sink += other[n]);
    COUNT("copies", for (int i = 0; i < n; i++) memmove(other, text, (size_t)n * 5 + (size_t)i));
    COUNT("sorts", sink += sorts(n));
    if (backwards)
        return 1;
    int m = 15;
    void *counted[4];
    uint64_t before = ticks_now();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, &m);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &counted[i]);
    printf("main-thread %llu\n", (unsigned long long)(ticks_now() - before));
    for (int i = 0; i < 4; i++) printf("thread-%d %llu\n", i, (unsigned long long)*(uint64_t *)counted[i]);
    return 0;
}
END
cat >throws.cpp <<'END'
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
extern "C" uint64_t ticks_now();
struct shape { virtual ~shape() {} virtual int size(int n) { if (n % 7 == 0) throw std::runtime_error("seven"); return n; } };
struct square : shape { int size(int n) override { return n % 11 == 0 ? throw n : n * n; } };
int main(int argc, char **argv)
{
    int n = std::stoi(argv[argc - 1]), caught = 0, sum = 0;
    std::vector<shape *> all = {new shape, new square};
    std::map<std::string, int> seen;
    uint64_t before = ticks_now();
    for (int i = 0; i < n; i++)
        try { sum += all[i % 2]->size(i); seen[std::to_string(i % 5)]++; all.at(i % 3); }
        catch (const std::exception &) { caught++; }
        catch (int x) { caught += 2 * (x > 0); }
    std::printf("exceptions %llu\n", (unsigned long long)(ticks_now() - before));
    return sum < caught;
}
END
cat >waves.f90 <<'END'
program waves
  use iso_c_binding
  implicit none
  interface
    function ticks_now() bind(c)
      import :: c_int64_t
      integer(c_int64_t) :: ticks_now
    end function
  end interface
  integer(c_int64_t) :: before
  integer :: n, i
  character(len=20) :: word
  real(8), allocatable :: a(:, :), b(:, :)
  call get_command_argument(1, word)
  read (word, *) n
  allocate (a(n, n), b(n, n))
  a = 1
  before = ticks_now()
  do i = 1, 3
    b(2:n-1, 2:n-1) = 0.25 * (a(1:n-2, 2:n-1) + a(3:n, 2:n-1) + a(2:n-1, 1:n-2) + a(2:n-1, 3:n))
    a = matmul(b, b) + cshift(a, 1)
  end do
  print '(a,i0)', 'fortran ', ticks_now() - before
  if (sum(a) < 0) stop 1
end program
END

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
        REPRISE_CC=$compiler good 100 build reprise-cc "--ticks=$how" $level work.c ticks_now.o -pthread -o "$name"
        check "$name" "./$name"
    done
    REPRISE_CXX=$cxx good 100 build reprise-c++ "--ticks=$how" -O2 throws.cpp ticks_now.o -o "$compiler-$how-throws"
    check "$compiler-$how-throws" "./$compiler-$how-throws"
    if [ $compiler = gcc ] && command -v gfortran >/dev/null; then
        good 100 build reprise-fc "--ticks=$how" -O2 waves.f90 ticks_now.o -o "fortran-$how"
        check "fortran-$how" "./fortran-$how"
    fi
    echo "$compiler, $how: counts are the same"
done < <(ways)
