# SPDX-License-Identifier: MIT
# No file of C or C++ has more than 700 lines, no line of it more than 100 columns. HOUSE names another tree to look at.
cd "${HOUSE:-$(dirname "$0")/../..}" || exit 1
files=$(find apps bench include src tests -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp')
[ "$(wc -w <<<"$files")" -gt 500 ] || { echo "FAILED: only $(wc -w <<<"$files") files were found"; exit 1; }
awk '
    FNR == 701 { print FILENAME " has more than 700 lines"; bad = 1 }
    length > 100 { print FILENAME ":" FNR " has more than 100 columns"; bad = 1 }
    END { exit bad }' $files
