# SPDX-License-Identifier: MIT
# Documents have at most 100 columns; tables, code and links that do not fit are as long as they are.
cd "$(dirname "$0")/../.." || exit 1
files=$(ls docs/*.md docs/internals/*.md README.md CONTRIBUTING.md CHANGELOG.md)
count=$(wc -w <<<"$files")
[ "$count" -gt 15 ] || { echo "FAILED: only $count documents were found"; exit 1; }
long=$(awk '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code }
    length > 100 && !code && !/^ *\|/ && !/^    / && !/^ *(- )?[^ ]*$/ { print FILENAME ":" FNR ": " length " columns" }' $files)
[ -z "$long" ] || { printf 'FAILED: over 100 columns\n%s\n' "$long"; exit 1; }
echo "$count documents"
