# SPDX-License-Identifier: MIT
"""Makes the entry points of a preloaded library from functions.table and the installed mpi.h.

A generator is run as: GENERATOR FUNCTIONS_TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

It writes next.h (the real functions, one table for the names MPI_X and one for PMPI_X) and entries.c
(functions MPI_X and PMPI_X for each intercepted function). What an entry does is a template, named by
the library's word in the function's row. A function of mpi.h without a row is refused by name
(table.py).
"""
import re
import sys

from header import read_header
from table import Table, fail

# The fields of struct rp_completion (src/preload/completion.h) in the order of the arguments.
COMPLETIONS = {
    "Wait": ("ONE", "requests statuses"),
    "Test": ("ONE", "requests flag statuses"),
    "Waitall": ("ALL", "count requests statuses"),
    "Testall": ("ALL", "count requests flag statuses"),
    "Waitany": ("ANY", "count requests index statuses"),
    "Testany": ("ANY", "count requests index flag statuses"),
    "Waitsome": ("SOME", "count requests outcount indices statuses"),
    "Testsome": ("SOME", "count requests outcount indices statuses"),
}


class Entry:
    """A function of mpi.h, and what one library does with it."""

    def __init__(self, function, cell, names):
        self.function = function
        self.cell = cell  # the library's word in the table
        self.names = names or [f"a{i}" for i in range(len(function.types))]
        if len(self.names) != len(function.types):
            fail(f"{function.name}: the table names {len(self.names)} arguments, mpi.h has {len(function.types)}")

    name = property(lambda self: self.function.name)
    member = property(lambda self: self.function.member)
    result = property(lambda self: self.function.result)
    args = property(lambda self: ", ".join(self.names))
    parameters = property(lambda self: self.function.parameters(self.names))
    plain_name = property(lambda self: re.sub("_c$", "", self.name))
    plain_member = property(lambda self: re.sub("_c$", "", self.member))
    is_large = property(lambda self: self.name.endswith("_c"))
    is_intercepted = property(lambda self: self.cell not in ("-", "use", "use_c"))

    @property
    def is_known(self):
        """Intercepted, or called by the library itself."""
        return self.is_intercepted or self.cell == "use_c" or (self.cell == "use" and not self.is_large)

    def first_of(self, *kinds):
        """The name of the first argument of one of these types; or an empty string."""
        for name, (before, after) in zip(self.names, self.function.types):
            if before.strip() in kinds and not after:
                return name
        return ""

    @property
    def sent(self):
        """The buffer that it sends, as three arguments."""
        return "sendbuf, sendcount, sendtype" if "sendbuf" in self.names else "buf, count, datatype"

    @property
    def immediate(self):
        return "I" + self.member[0].lower() + self.member[1:]

    @property
    def completion(self):
        """The initialiser of a struct rp_completion; None: it is no function that completes requests."""
        if self.member not in COMPLETIONS:
            return None
        form, fields = COMPLETIONS[self.member]
        values = [f".function = \"{self.name}\"", f".form = RP_COMPLETE_{form}"]
        values += [".tests = true"] if self.member.startswith("Test") else []
        values += [".count = 1"] if form == "ONE" else []
        values += [f".{field} = {name}" for field, name in zip(fields.split(), self.names)]
        return "{" + ", ".join(values) + "}"


def twin_of(prefix):
    """The table of real functions that an entry MPI_X or PMPI_X calls."""
    return "rp_pmpi" if prefix == "P" else "rp_mpi"


# What an mpi.h may lack, by a function of it: MPI_VERSION does not tell (Open MPI 5 has sessions, and says 3).
FEATURES = {
    "RP_HAS_LARGE_COUNTS": "MPI_Send_c",
    "RP_HAS_SESSIONS": "MPI_Session_init",
    "RP_HAS_PARTITIONED": "MPI_Psend_init",
    "RP_HAS_IDUP_WITH_INFO": "MPI_Comm_idup_with_info",
    "RP_HAS_ATTR_GET": "MPI_Attr_get",
}


# A library that knows all these may ask for a status (src/preload/lost_status.h).
ASKING = {"Request_get_status", "Request_free", "Start", "Startall", *COMPLETIONS}


def write_next(entries, header, out):
    out.write("/* Made by api/generate.py. */\n#ifndef RP_NEXT_H\n#define RP_NEXT_H\n\n")
    out.write("#include <mpi.h>\n\n#include \"base/visibility.h\"\n\n/* What mpi.h has. */\n")
    for feature, function in FEATURES.items():
        out.write(f"#define {feature} {int(function in header)}\n")
    out.write("\n/* The real functions: those that a call would reach without us. */\nstruct rp_next {\n")
    for entry in entries:
        out.write(f"    {entry.result} (*{entry.member})({entry.parameters});\n")
    out.write("};\n\nextern RP_HIDDEN struct rp_next rp_mpi;  /* the MPI_ names */\n")
    out.write("extern RP_HIDDEN struct rp_next rp_pmpi; /* the PMPI_ names */\n\n")
    out.write("/* Looks the names up; what is not found keeps its present value. */\n")
    out.write("void rp_next_resolve(void);\n\n#endif\n")


def first_call(entry, prefix):
    """What the tables hold until the library is found: mpi4py loads it late."""
    twin, own = twin_of(prefix), prefix + entry.name
    return (f"static {entry.result} first_{own}({entry.parameters})\n{{\n"
            f"    rp_next_resolve();\n    if ({twin}.{entry.member} == first_{own})\n"
            f"        rp_next_missing(\"{own}\");\n    return {twin}.{entry.member}({entry.args});\n}}\n\n")


def write_tables(intercepted, known, out):
    """The tables of real functions, and rp_next_resolve, which fills them."""
    for prefix in ("", "P"):
        for entry in intercepted:
            out.write(first_call(entry, prefix))
    for prefix in ("", "P"):
        out.write(f"struct rp_next {twin_of(prefix)} = {{\n")
        for entry in intercepted:
            out.write(f"    .{entry.member} = first_{prefix}{entry.name},\n")
        out.write("};\n\n")
    out.write("void rp_next_resolve(void)\n{\n")
    for prefix in ("", "P"):
        for entry in known:
            slot = f"{twin_of(prefix)}.{entry.member}"
            out.write(f"    rp_next_find(\"{prefix}{entry.name}\", &{slot}, sizeof {slot});\n")
    if ASKING <= {entry.member for entry in known}:
        out.write("    rp_lost_status_mend();\n")
    out.write("}\n\n")


def write_known(header, table, column, out):
    """The functions that the library need not refuse: of this mpi.h, or no matter of the library's."""
    passed = {name for name, row in table.rows.items() if row.cells[column] in ("-", "use", "use_c")}
    names = sorted(set(header) | passed)
    out.write("const char *const rp_known_functions[] = {\n")
    out.write("".join(f"    \"{name}\",\n" for name in names))
    out.write(f"}};\nconst size_t rp_known_function_count = {len(names)};\n\n")


class Library:
    """A preloaded library; generators with more to do override its methods."""

    refuses_unknown = False  # by src/preload/unknown_functions.c

    def __init__(self, column, include, templates):
        self.column = column  # of functions.table
        self.include = include  # the header that entries.c includes
        self.templates = templates  # by the words of the column: a function body, or what wrapper takes

    def complete(self, header):
        """Adds functions that an older mpi.h does not have."""

    def template(self, entry):
        return self.templates[entry.cell]

    def keys(self, entry, prefix):
        """What stands in braces in templates."""
        return dict(
            name=entry.name, member=entry.member, plain=entry.plain_member, lower=entry.plain_member.lower(),
            own=prefix + entry.name, twin=twin_of(prefix), result=entry.result, args=entry.args,
            comma=", " if entry.names else "", immediate=entry.immediate,
            immediate_plain=re.sub("_c$", "", entry.immediate), comm=entry.first_of("MPI_Comm"),
            file=entry.first_of("MPI_File", "MPI_File *"),
            last=entry.names[-1] if entry.names else "", before_last=entry.names[-2] if len(entry.names) > 1 else "",
            sent=entry.sent, completion=entry.completion)

    def wrapper(self, entry, prefix):
        body = self.template(entry).format(**self.keys(entry, prefix))
        return f"RP_ENTRY {entry.result} {prefix}{entry.name}({entry.parameters})\n{{\n{body}}}\n\n"

    def entries(self, header, table):
        """Of the functions that are intercepted or called."""
        entries = []
        for name, function in sorted(header.items()):
            row = table.row(name)
            entry = Entry(function, row.cells[self.column], row.arguments)
            if entry.is_intercepted and entry.cell not in self.templates:
                fail(f"{table.path}: {name}: {self.column} has no template '{entry.cell}'")
            entries += [entry] if entry.is_known else []
        return entries

    def write_entries(self, known, out):
        intercepted = [entry for entry in known if entry.is_intercepted]
        write_tables(intercepted, known, out)
        for entry in intercepted:
            for prefix in ("", "P"):
                out.write(self.wrapper(entry, prefix))

    def make(self):
        if len(sys.argv) != 4:
            fail(f"usage: {sys.argv[0]} FUNCTIONS_TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY")
        table, header = Table(sys.argv[1]), read_header(sys.argv[2])
        self.complete(header)
        known = self.entries(header, table)
        with open(sys.argv[3] + "/next.h", "w") as out:
            write_next(known, header, out)
        with open(sys.argv[3] + "/entries.c", "w") as out:
            out.write(f"/* Made by api/generate.py. */\n#include \"{self.include}\"\n")
            out.write("#include \"preload/lost_status.h\"\n\n")
            if self.refuses_unknown:
                out.write("#include \"preload/unknown_functions.h\"\n\n")
                write_known(header, table, self.column, out)
            self.write_entries(known, out)
