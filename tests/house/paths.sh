# SPDX-License-Identifier: MIT
# Every path of the tree that a document names is there; so is every function that stands in
# brackets behind its file, as in `src/match/matcher.c` (`rp_matcher_take`). A word in <> or a * in
# a path stands for anything. Every file x.c or x.h that a comment in src names is somewhere in the
# tree, too; a.c and wrap.c are examples of programs.
cd "$(dirname "$0")/../.." || exit 1
bad=0 paths=0 functions=0 comments=0
documents=$(ls docs/*.md docs/internals/*.md README.md CONTRIBUTING.md)
path_words='(api|bench|docs|include|src|tests|tools)/[^` ]*|apps/[^` ]*\.c'

named_paths() { grep -oE "\`($path_words)\`" $documents | tr -d '`'; } # DOCUMENT:PATH

named_functions() { # DOCUMENT FILE FUNCTION
    local document file names name
    for document in $documents; do
        tr '\n' ' ' <"$document" | grep -oE '`src/[^` ]+\.(c|h|cc)` +\(`[^)]*`\)' |
            sed -E 's/`//g; s/[(),]/ /g' | while read -r file names; do
                for name in $names; do echo "$document $file $name"; done
            done
    done
}

commented_files() { # FILE:NAME
    grep -rnE '^ ?\*|/[*/]' src --include=*.[ch] --include=*.cc --include=*.cpp |
        grep -v '#include' |
        sed -E 's/^([^:]*):[0-9]+:/\1 /; s/^([^ ]*) [^*/]*(\/?\*|\/\/)/\1 /; s/"[^"]*"//g' |
        awk '{ for (i = 2; i <= NF; i++)
                   if (match($i, /[A-Za-z0-9_\/-]+\.[ch]($|[^A-Za-z0-9_])/)) {
                       name = substr($i, RSTART, RLENGTH); sub(/[^ch]$/, "", name)
                       sub(/.*\//, "", name); print $1 ":" name } }' | sort -u
}

while IFS=: read -r document path; do
    paths=$((paths + 1))
    pattern=$(sed 's/<[a-z]*>/*/g' <<<"$path")
    compgen -G "$pattern" >/dev/null && continue
    echo "$document names $path, which is not there"
    bad=1
done < <(named_paths)
while read -r document file name; do
    functions=$((functions + 1))
    grep -qsw "$name" "$file" && continue
    echo "$document: $file has no $name"
    bad=1
done < <(named_functions)
tree=" $(find src api apps bench include tests tools -name '*.[ch]' -printf '%f ') "
while IFS=: read -r source name; do
    comments=$((comments + 1))
    case "$tree a.c wrap.c mpi.h shmem.h entries.c " in *" $name "*) continue ;; esac
    echo "a comment in $source names $name, which is not there"
    bad=1
done < <(commented_files)
[ "$paths" -gt 400 ] || { echo "FAILED: only $paths paths were found"; exit 1; }
[ "$functions" -gt 100 ] || { echo "FAILED: only $functions functions were found"; exit 1; }
[ "$comments" -gt 100 ] || { echo "FAILED: only $comments names in comments were found"; exit 1; }
[ "$bad" -eq 0 ] || exit 1
echo "$paths paths, $functions functions and $comments files in comments"
