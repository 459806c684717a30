#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-ft.so from functions.table and the installed mpi.h.

usage: ft.py FUNCTIONS_TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

Writes ft_entries.h and entries.c. Functions of the class `own` go to rp_ft_NAME of src/ft, with the
same arguments; those of the families of MPI_Wait and MPI_Test to rp_ft_complete. Those of the class
`refuse` stop the program by name: their real ones would mean other processes than the program does.
Forms for large counts, and functions that the table does not have, are refused if they name a handle,
but for the forms of functions that go to MPI.
"""
import re
import sys

from generate import Entry, write_known
from header import Function, read_header
from table import Table, fail

SESSION, SESSIONS, TEXT, INFO = ("MPI_Session ", ""), ("MPI_Session *", ""), ("const char *", ""), ("MPI_Info ", "")
HANDLER, GROUP, INT, INTS = ("MPI_Errhandler ", ""), ("MPI_Group ", ""), ("int ", ""), ("int *", "")
# Programs of a later Open MPI run under a library that an mpi.h without these has made.
LATER = {
    "MPI_Session_init": [INFO, HANDLER, SESSIONS],
    "MPI_Session_finalize": [SESSIONS],
    "MPI_Session_call_errhandler": [SESSION, INT],
    "MPI_Session_get_info": [SESSION, ("MPI_Info *", "")],
    "MPI_Session_get_num_psets": [SESSION, INFO, INTS],
    "MPI_Session_get_nth_pset": [SESSION, INFO, INT, INTS, ("char *", "")],
    "MPI_Session_get_pset_info": [SESSION, TEXT, ("MPI_Info *", "")],
    "MPI_Group_from_session_pset": [SESSION, TEXT, ("MPI_Group *", "")],
    "MPI_Comm_create_from_group": [GROUP, TEXT, INFO, HANDLER, ("MPI_Comm *", "")],
}
HANDLES = re.compile(r"\bMPI_(Comm|Request|Win|File|Message)\b")


def class_of(function, table):
    """own, refuse, or - for what goes to MPI."""
    plain = table.rows.get(function.name.removesuffix("_c"))
    if function.name.endswith("_c") and plain and plain.cells["ft"] == "-":
        return "-"
    if function.name.endswith("_c") or not plain:
        return "refuse" if any(HANDLES.search(before) for before, _ in function.types) else "-"
    return table.rows[function.name].cells["ft"]


def entry_of(function, table):
    names = ["" if before.strip() == "..." else f"a{i}" for i, (before, _) in enumerate(function.types)]
    return Entry(function, class_of(function, table), names)


def complete(header):
    """Adds what an older mpi.h does not have. Returns whether it has sessions."""
    has_sessions = "MPI_Session_init" in header
    for name, types in LATER.items():
        header.setdefault(name, Function(name, "int", types))
    return has_sessions


def write_header(entries, has_sessions, out):
    out.write("/* Made by api/ft.py. */\n#ifndef RP_FT_ENTRIES_H\n#define RP_FT_ENTRIES_H\n\n")
    out.write("#include <mpi.h>\n\n#include \"base/visibility.h\"\n\n")
    out.write("" if has_sessions else "typedef struct ompi_instance_t *MPI_Session; /* as in Open MPI 5 */\n\n")
    out.write("struct rp_ft_real {\n")
    for e in entries:
        out.write(f"    {e.result} (*{e.member})({e.parameters});\n")
    out.write("};\nextern RP_HIDDEN struct rp_ft_real rp_real;\nvoid rp_ft_real_find(void);\n\n")
    for e in entries:
        if e.cell == "own" and not e.completion:
            out.write(f"{e.result} rp_ft_{e.member}({e.parameters});\n")
    out.write("void rp_ft_refuse(const char *name) __attribute__((noreturn));\n\n#endif\n")


def write_entry(e, prefix, out):
    out.write(f"__attribute__((visibility(\"default\"))) {e.result} {prefix}{e.name}({e.parameters})\n{{\n")
    if e.cell == "refuse":
        out.write("".join(f"    (void){name};\n" for name in e.names))
        out.write(f"    rp_ft_refuse(\"{e.name}\");\n}}\n")
    else:
        call = f"{e.member}({e.args})"
        if e.completion:
            call = f"complete(&(const struct rp_completion){e.completion})"
        out.write(f"    rp_ft_enter(\"{e.name}\");\n    return rp_ft_{call};\n}}\n")


def write_entries(entries, out):
    out.write("/* Made by api/ft.py. */\n#include <string.h>\n\n#include \"ft/ft_abort.h\"\n")
    out.write("#include \"ft/ft_completion.h\"\n#include \"ft/ft_enter.h\"\n#include \"preload/constants.h\"\n#include \"preload/unknown_functions.h\"\n\n")
    out.write("struct rp_ft_real rp_real;\n\nstatic void find(const char *name, void *slot)\n{\n")
    out.write("    void *symbol = rp_library_symbol(name);\n    memcpy(slot, &symbol, sizeof symbol);\n}\n\n")
    out.write("void rp_ft_real_find(void)\n{\n")
    for e in entries:
        out.write(f"    find(\"P{e.name}\", &rp_real.{e.member});\n")
    out.write("}\n\n")
    for e in entries:
        for prefix in ("", "P") if e.is_intercepted else ():
            write_entry(e, prefix, out)


def main():
    if len(sys.argv) != 4:
        fail("usage: ft.py FUNCTIONS_TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY")
    table, header = Table(sys.argv[1]), read_header(sys.argv[2])
    has_sessions = complete(header)
    entries = [entry_of(f, table) for name, f in sorted(header.items())
               if name.startswith("MPI_") and not name.endswith(("_fn", "_function"))]
    missing = [name for name, row in table.rows.items()
               if name not in header and row.cells["ft"] == "own" and not name.endswith("_c")]
    if missing:
        fail("not in mpi.h: " + " ".join(missing))
    with open(sys.argv[3] + "/ft_entries.h", "w") as out:
        write_header(entries, has_sessions, out)
    with open(sys.argv[3] + "/entries.c", "w") as out:
        write_entries(entries, out)
        write_known(header, table, "ft", out)


if __name__ == "__main__":
    main()
