# SPDX-License-Identifier: MIT
# Every path of the tree that a document names is there; so is every function that stands in brackets behind its file,
# as in `src/match/matcher.c` (`rp_matcher_take`). A word in <> or a * in a path stands for any.
cd "$(dirname "$0")/../.." || exit 1
bad=0 paths=0 functions=0
documents=$(ls docs/*.md docs/internals/*.md README.md CONTRIBUTING.md)
while IFS=: read -r document path; do
    paths=$((paths + 1))
    pattern=$(sed 's/<[a-z]*>/*/g' <<<"$path")
    compgen -G "$pattern" >/dev/null || { echo "$document names $path, which is not there"; bad=1; }
done < <(grep -oE '`(api|apps|bench|docs|include|src|tests|tools)/[^` ]*`' $documents | tr -d '`')
# File, then functions. An empty line or another file ends the list of functions.
while read -r document path function; do
    functions=$((functions + 1))
    grep -qw "$function" "$path" 2>/dev/null || { echo "$document: $path has no $function"; bad=1; }
done < <(for document in $documents; do
    tr '\n' ' ' <"$document" | grep -oE '`src/[^` ]+\.(c|h|cc)` +\(`[^)]*`\)' |
        sed -E 's/`//g; s/[(),]/ /g' | while read -r path names; do
            for name in $names; do echo "$document $path $name"; done
        done
done)
[ "$paths" -gt 300 ] || { echo "FAILED: only $paths paths were found"; exit 1; }
[ "$functions" -gt 100 ] || { echo "FAILED: only $functions functions were found"; exit 1; }
[ $bad -eq 0 ] || exit 1
echo "$paths paths and $functions functions"
