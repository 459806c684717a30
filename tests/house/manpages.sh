# SPDX-License-Identifier: MIT
# The manual says what the commands do: options, settings and commands are the same in `--help`, `env --list` and docs/man.
man=$(cd "$(dirname "$0")/../../docs/man" && pwd) || exit 1
source "$(dirname "$0")/../lib/common.sh"
bad=0

# PAGE SECTION: the heads of the section's list (the lines after .TP at its outermost level), without markup
heads() {
    awk -v section="$2" '
        /^\.SH / { on = ($0 == ".SH " section) }
        /^\.RS/ { depth++ }
        /^\.RE/ { depth-- }
        tp { print }
        { tp = on && !depth && /^\.TP/ }' "$man/$1" | sed -E 's/\\f[A-Z]//g; s/\\-/-/g'
}

# COMMAND: the options of its help, each as "-o, --output DIR"
options() { "$reprise" "$1" --help | sed '1,/^options:$/d' | sed -nE 's/^  ((-[a-zA-Z], )?--[a-z0-9-]+( [^ a-z]+)?)( .*)?$/\1/p'; }

settings() { "$reprise" env --list | cut -d' ' -f1; }
commands() { "$reprise" --help | sed -nE "/^'reprise/q; s/^  ([a-z]+) .*/\1/p"; }
pages() { (cd "$man" && ls reprise-*.1) | sed -E 's/^reprise-(.*)\.1$/\1/' | grep -vx cc; } # reprise-cc is a program of its own

same() { # WHAT PROGRAM'S MANUAL'S: two lists, the first not empty
    [ -n "$2" ] || { echo "$1: the program lists nothing"; bad=1; }
    local line
    while read -r line; do
        echo "$1: ${line//[<>] /}: only in the $([ "${line:0:1}" = '<' ] && echo program || echo manual)"
        bad=1
    done < <(diff <(sort <<<"$2") <(sort <<<"$3") | grep '^[<>]')
}

same "commands and pages" "$(commands)" "$(pages)"
same "commands in reprise.1" "$(commands)" "$(heads reprise.1 COMMANDS)"
same "settings in reprise.1" "$(settings)" "$(heads reprise.1 ENVIRONMENT)"
for command in $(commands); do
    [ -e "$man/reprise-$command.1" ] && same "options in reprise-$command.1" "$(options "$command")" "$(heads "reprise-$command.1" OPTIONS)"
done
cc_help() { "$build/bin/reprise-cc" --reprise-help; }
same "options in reprise-cc.1" "$(cc_help | sed -nE 's/^  (--[a-z-]+(=[A-Z]+)?) .*/\1/p')" "$(heads reprise-cc.1 OPTIONS)"
same "settings in reprise-cc.1" "$(cc_help | sed -n '/^Settings/s/, the compilers.*//p' | grep -o 'REPRISE_[A-Z]*')" "$(heads reprise-cc.1 ENVIRONMENT | sed 's/^\.B //')"
for page in "$man"/*.1; do
    command -v groff >/dev/null || break
    warnings=$(groff -man -ww -z "$page" 2>&1)
    [ -z "$warnings" ] || { echo "$warnings"; bad=1; }
done
[ "$bad" -eq 0 ] || fail "the manual and the program differ"
echo "$(pages | wc -l) pages agree with the program"
