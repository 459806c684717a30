# SPDX-License-Identifier: MIT
# The C and C++ of the tree is as clang-format 14 writes it (.clang-format, `make format`).
root=$(realpath "$(dirname "$0")/../..")
cd "$root" || exit 1
formatter=$(command -v clang-format-14 || command -v clang-format)
case $("${formatter:-false}" --version 2>/dev/null) in
*version\ 14.*) ;;
*) echo "skipped: no clang-format 14"; exit 77 ;;
esac
files=$(find apps bench include src tests -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp')
[ "$(wc -w <<<"$files")" -gt 500 ] || { echo "FAILED: only $(wc -w <<<"$files") files were found"; exit 1; }
wrong=$("$formatter" --dry-run $files 2>&1 | sed -n 's|:[0-9]*:[0-9]*: warning: code should be clang-formatted.*||p' | sort -u)
[ -z "$wrong" ] || { printf 'FAILED: make format changes\n%s\n' "$wrong"; exit 1; }
echo "$(wc -w <<<"$files") files"
