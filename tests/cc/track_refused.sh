# SPDX-License-Identifier: MIT
# Tracked code: what a compiler's plugin cannot follow is refused by name, with the place, and nothing is compiled.
source "$(dirname "$0")/../lib/cc.sh"

case $(uname -m) in
x86_64)
    cat >gather.c <<'EOF'
#include <immintrin.h>
__attribute__((target("avx2"))) double first_of(const double *at, __m128i places) { return _mm256_cvtsd_f64(_mm256_i32gather_pd(at, places, 8)); }
EOF
    by_gcc=__builtin_ia32_gathersiv4df by_clang=llvm.x86.avx2.gather.d.pd.256 ;;
aarch64)
    cat >gather.c <<'EOF'
#include <arm_neon.h>
double first_of(const double *at) { return vgetq_lane_f64(vld2q_f64(at).val[0], 0); }
EOF
    by_gcc=ld2 by_clang=ld2 ;;
*) rm -f gather.c ;;
esac
cat >atomic.c <<'EOF'
__int128 next(__int128 *at) { return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); }
EOF

refuses() { # COMPILER SOURCE TEXT
    REPRISE_CC=$1 run 60 refused reprise-cc --track=plugin -O2 -c "$2" -o refused.o
    [ "$status" -ne 0 ] || fail "$1 compiles $2"
    grep -q -- "$3" refused.err || fail "$1 does not say '$3' of $2"
    [ ! -e refused.o ] || fail "$1 compiled $2 after all"
}
tried=0
for compiler in clang gcc; do
    version=$("$compiler" -dumpversion 2>/dev/null | cut -d. -f1)
    [ -e "$plugins/reprise-track-$([ "$compiler" = clang ] && echo llvm || echo gcc)-$version.so" ] || continue
    REPRISE_CC=$compiler good 60 harmless reprise-cc --track=plugin -O2 -c "$programs/track_harmless.c" -o harmless.o
    REPRISE_CXX=$([ "$compiler" = gcc ] && echo g++ || echo clang++) good 60 harmless reprise-c++ --track=plugin -O2 -c "$programs/track_harmless.cc" -o harmless.o
    name=by_$compiler
    [ ! -e gather.c ] || refuses "$compiler" gather.c "${!name}"
    [ "$compiler" = clang ] || refuses gcc atomic.c 'atomic.c:1:.*__atomic_fetch_add_16 cannot be tracked; with .--track=calls. it can'
    tried=$((tried + 1))
    echo "$compiler: refused"
done
[ "$tried" -gt 0 ] || { echo "skipped: no plugin"; exit 77; }
