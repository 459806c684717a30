# SPDX-License-Identifier: MIT
# The order inside a room. Arguments: the room's parts.table, then its source files. tests/house/includes.sh calls it.
function wrong(text) { print text; bad = 1 }
function part_of(path) { sub(/.*\//, "", path); sub(/\.[^.]*$/, "", path); return path }

FILENAME == table {
    if (/^#/) next
    if (!match($0, /^[a-z0-9_]+ \| [^ ]/)) wrong(table ":" FNR ": not of the form PART | what it does: " $0)
    else if ($1 in place) wrong(table ":" FNR ": a second line for " $1)
    place[$1] = FNR
    next
}

FNR == 1 {
    own = part_of(FILENAME)
    is_source = FILENAME !~ /\.h$/
    declaration = ""
    files[own] = 1
    if (!(own in place)) wrong(FILENAME " belongs to no part in " table)
}

/^ *# *include "/ {
    path = $0
    gsub(/^[^"]*"|"[^"]*$/, "", path)
    if (path !~ "^" room "/[^/]*$") next
    other = part_of(path)
    if (own in place && other in place && place[other] > place[own])
        wrong(FILENAME ":" FNR " includes " path ", which stands below it in " table)
    next
}

is_source && /^ *extern .*(rp|reprise)_/ { wrong(FILENAME ":" FNR " declares what a header should: " $0); next }

# A declaration of a function of ours, perhaps over several lines; the body of a definition begins on a line of its own.
is_source && /^[a-z_]/ && !/^(static|typedef|extern)/ && /[ *](rp|reprise)_[a-z0-9_]+\(/ {
    declaration = FILENAME ":" FNR " declares what a header should: " $0
}
declaration != "" && /;$/ { wrong(declaration); declaration = "" }
/^\{/ { declaration = "" }

END {
    for (part in place) if (!(part in files)) wrong(table " lists " part ", of which there is no file")
    exit bad
}
