# SPDX-License-Identifier: MIT
# Documents have at most 100 columns; tables, code and links that do not fit are as long as they are.
cd "$(dirname "$0")/../.." || exit 1
files=$(ls docs/design.md docs/model.md docs/format.md docs/codecs.md docs/tasks.md docs/glossary.md docs/internals/*.md CONTRIBUTING.md)
[ "$(wc -w <<<"$files")" -gt 6 ] || { echo "FAILED: only $(wc -w <<<"$files") documents were found"; exit 1; }
long=$(awk '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code }
    length > 100 && !code && !/^ *\|/ && !/^    / && !/^ *(- )?[^ ]*$/ { print FILENAME ":" FNR ": " length " columns" }' $files)
[ -z "$long" ] || { printf 'FAILED: over 100 columns\n%s\n' "$long"; exit 1; }
echo "$(wc -w <<<"$files") documents"
