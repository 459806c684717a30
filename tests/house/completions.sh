# SPDX-License-Identifier: MIT
# Completions offer every command and every option of `--help`, and what an argument may be: in bash, zsh and fish, each where it is installed.
here=$(cd "$(dirname "$0")/.." && pwd)
source "$here/lib/common.sh"
made=$build/completions
[ -s "$made/bash/reprise" ] || fail "no completions were made"
mkdir -p .reprise/app-1 && touch .reprise/app-1/manifest
touch notes.txt
bad=0

commands() { "$reprise" --help | sed -nE "/^'reprise/q; s/^  ([a-z]+) .*/\1/p"; }
help_options() { # COMMAND: names and letters
    "$reprise" "$1" --help | sed '1,/^options:$/d' | sed -nE 's/^  ((-[a-zA-Z]), )?(--[a-z0-9-]+).*/\2 \3/p' | tr -s ' ' '\n' | sed '/^$/d'
}

# LINE...: as `= LINE` and what is offered, a match a line
offered_by_bash() {
    bash --norc -c 'shopt -s extglob
        source "$1/bash/reprise"; source "$1/bash/reprise-cc"; shift
        [ ! -e /usr/share/bash-completion/bash_completion ] || source /usr/share/bash-completion/bash_completion
        for line; do
            echo "= $line"
            COMP_LINE=$line COMP_POINT=${#line}
            read -ra COMP_WORDS <<<"${line//=/ = }"
            [ "${line: -1}" != " " ] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
            case ${COMP_WORDS[0]} in reprise) _reprise ;; *) _reprise_cc ;; esac
            [ "${#COMPREPLY[@]}" -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"
        done' bash "$made" "$@" 2>&1
}
offered_by_zsh() { zsh -f "$here/lib/complete.zsh" "$made/zsh" "$@"; }
offered_by_fish() {
    fish --no-config -c 'source $argv[1]/fish/reprise.fish; source $argv[1]/fish/reprise-cc.fish
        for line in $argv[2..-1]; echo "= $line"; complete -C "$line" | string replace -r "\t.*" ""; end' "$made" "$@"
}

offers() { # SHELL LINE MATCH...: at least these; !MATCH: not this
    local match matches
    matches=$(awk -v line="= $2" '$0 == line { on = 1; next } /^= / { on = 0 } on' "$1.offers")
    for match in "${@:3}"; do
        case $match in
        !*) ! grep -qxF -- "${match#!}" <<<"$matches" || { echo "$1: '$2' offers ${match#!}"; bad=1; } ;;
        *) grep -qxE -- "$(sed 's/[.]/\\./g' <<<"$match")=?" <<<"$matches" || { echo "$1: '$2' does not offer $match"; bad=1; } ;;
        esac
    done
}

lines=("reprise " "reprise help r" "reprise record --codec " "reprise recode --codec " "reprise replay --at-end " "reprise record --mpi=" "reprise replay " "reprise replay app-1 en" "reprise solo -- en"
    "reprise record --codec mix en" "reprise record -o out env --hel" "reprise diff app-1 a" "reprise calibrate no" "reprise env " "reprise env record a" "reprise-cc --t" "reprise-cc --track=")
for command in $(commands); do lines+=("reprise $command -"); done
shells=
for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    shells+=" $shell"
    offered_by_$shell "${lines[@]}" >$shell.offers
    offers $shell "reprise " $(commands) help
    offers $shell "reprise help r" record replay !solo
    for command in $(commands); do
        options=$(help_options "$command")
        [ "$(wc -l <<<"$options")" -ge 2 ] || fail "no options of $command"
        offers $shell "reprise $command -" $options
    done
    offers $shell "reprise record --codec " mix tables auto cdc gzip raw !on
    offers $shell "reprise recode --codec " mix cdc !auto
    offers $shell "reprise replay --at-end " stop gdb continue
    offers $shell "reprise replay " app-1 latest !--stall
    offers $shell "reprise replay app-1 en" env
    offers $shell "reprise solo -- en" env !app-1
    offers $shell "reprise record --codec mix en" env
    offers $shell "reprise record -o out env --hel" !--timestamps
    offers $shell "reprise diff app-1 a" app-1
    offers $shell "reprise calibrate no" notes.txt
    offers $shell "reprise env " record replay det
    offers $shell "reprise env record a" app-1
    offers $shell "reprise-cc --t" --track --ticks
done
for shell in bash zsh; do
    [[ $shells != *$shell* ]] || { offers $shell "reprise record --mpi=" openmpi mpich abi && offers $shell "reprise-cc --track=" auto plugin calls; }
done
[[ $shells != *fish* ]] || offers fish "reprise record --mpi=" --mpi=openmpi --mpi=mpich
[ "$bad" -eq 0 ] || fail "completions"
echo "commands and options are offered by$shells"
