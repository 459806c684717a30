# SPDX-License-Identifier: MIT
# The checks of the house find each fault in a copy of the tree: the order of rooms and parts, and sizes.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r apps bench docs include src tests "$work"
bad=0
# tries CHECK WORDS: the check fails on the tree as it is now and says the words. Then the tree is whole again.
tries() {
    HOUSE=$work "$BASH" "tests/house/$1.sh" >"$work/out" 2>&1 && { echo "$1 passes: $2"; bad=1; }
    grep -qF -- "$2" "$work/out" || { echo "$1 does not say: $2"; cat "$work/out"; bad=1; }
    rm -rf "$work/src"
    cp -r src "$work"
    room
}
# A room of our own, in order: `upper` stands on `lower`.
room() {
    mkdir "$work/src/lodge"
    echo 'lodge | | for this test' >>"$work/src/rooms.table"
    printf '# lowest first\nlodge_lower | one\nlodge_upper | two\n' >"$work/src/lodge/parts.table"
    printf 'int rp_lower(void);\n' >"$work/src/lodge/lodge_lower.h"
    printf '#include "lodge/lodge_lower.h"\nint rp_lower(void)\n{\n    return 0;\n}\n' >"$work/src/lodge/lodge_lower.c"
    printf '#include "lodge/lodge_lower.h"\n' >"$work/src/lodge/lodge_upper.h"
    printf '#include "lodge/lodge_upper.h"\n' >"$work/src/lodge/lodge_upper.c"
}
lodge=$work/src/lodge
room
HOUSE=$work "$BASH" tests/house/includes.sh >"$work/out" # design.md has no line of that room, but all else is well
! grep lodge_ "$work/out" || { echo "includes finds a fault in a good room"; bad=1; }
echo '#include "lodge/lodge_upper.h"' >>"$lodge/lodge_lower.c"
tries includes 'lodge_lower.c:6 includes lodge/lodge_upper.h, which stands below it in src/lodge/parts.table'
echo 'int x;' >"$lodge/lodge_third.c"
tries includes 'lodge_third.c belongs to no part in src/lodge/parts.table'
echo 'lodge_gone | three' >>"$lodge/parts.table"
tries includes 'src/lodge/parts.table lists lodge_gone, of which there is no file'
echo 'lodge_upper | again' >>"$lodge/parts.table"
tries includes 'parts.table:4: a second line for lodge_upper'
echo 'lodge_upper' >>"$lodge/parts.table"
tries includes 'parts.table:4: not of the form PART | what it does'
echo 'extern int rp_lower_count;' >>"$lodge/lodge_upper.c"
tries includes 'lodge_upper.c:2 declares what a header should: extern int rp_lower_count;'
printf 'int rp_lower_other(int a,\n                   int b);\n' >>"$lodge/lodge_upper.c"
tries includes 'lodge_upper.c:2 declares what a header should: int rp_lower_other(int a,'
echo '#include "base/buffer.h"' >>"$lodge/lodge_upper.c"
tries includes 'lodge_upper.c:2 includes #include "base/buffer.h"'
echo '#include <mpi.h>' >>"$lodge/lodge_upper.c"
tries includes 'src/lodge/lodge_upper.c includes mpi.h'
cp "$work/src/base/buffer.h" "$lodge/buffer.h"
tries includes 'file names that are not unique: buffer.h'
yes '/* more */' | head -701 >"$lodge/lodge_upper.c"
tries sizes 'src/lodge/lodge_upper.c has more than 700 lines'
printf '/* %100s */\n' . >"$lodge/lodge_upper.h"
tries sizes 'src/lodge/lodge_upper.h:1 has more than 100 columns'
exit $bad
