# SPDX-License-Identifier: MIT
"""Reads functions.table: what each of our libraries does with each MPI function."""
import re
import sys

# What libraries do with functions of the lists; one that the table does not have is refused.
LISTED = {"none": {}, "refused": {"record": "refuse", "det": "refuse", "partial": "refuse", "ft": "refuse"}}


def fail(message):
    sys.exit(f"{sys.argv[0]}: error: {message}")


class Row:
    def __init__(self, name, cells, arguments):
        self.name = name
        self.cells = cells  # by library
        self.arguments = arguments  # their names; None: the table does not name them

    def plain(self):
        return re.sub("_c$", "", self.name)


class Table:
    """The rows by the name of the function. MPI_X[_c] is two rows."""

    def __init__(self, path):
        self.path, self.libraries, self.rows = path, None, {}
        with open(path) as lines:
            for number, line in enumerate(lines, 1):
                line = line.split("#")[0].strip()
                if line:
                    self.read(line, f"{path}:{number}")

    def read(self, line, place):
        words = line.split("(")[0].split()
        if self.libraries is None:
            self.libraries = words[1:-1]
        elif words[0] in ("none", "refused"):
            for name in words[1:]:
                self.add(name, {library: LISTED[words[0]].get(library, "-") for library in self.libraries}, None, place)
        elif len(words) != 1 + len(self.libraries):
            fail(f"{place}: not a function with {len(self.libraries)} words, one for each library: {line}")
        else:
            arguments = re.search(r"\(([\w, ]*)\)$", line)
            names = [name.strip() for name in arguments[1].split(",")] if arguments else None
            self.add(words[0], dict(zip(self.libraries, words[1:])), names, place)

    def add(self, name, cells, arguments, place):
        match = re.fullmatch(r"(MPIX?_\w+)(\[_c\])?", name)
        if not match:
            fail(f"{place}: not the name of an MPI function: {name}")
        for each in [match[1], match[1] + "_c"] if match[2] else [match[1]]:
            if each in self.rows:
                fail(f"{place}: {each} has two rows")
            self.rows[each] = Row(each, cells, arguments)

    def row(self, name):
        """The row of a function. One that the table does not have is refused where that can be."""
        return self.rows.get(name) or Row(name, {library: LISTED["refused"].get(library, "-") for library in self.libraries}, None)

    def unknown(self, functions):
        return sorted(set(functions) - set(self.rows))
