#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-ft.so.

usage: ft.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

Functions of the table's class `own` go to rp_ft_NAME of src/ft, with the same arguments. Whatever else names a communicator, request, window or file, and is not of class `pass`, is refused
by name: its real one would mean other processes than the program does.
"""
import re
import sys

import generate

HANDLES = re.compile(r"\bMPI_(Comm|Request|Win|File|Message)\b")


def read_classes(path):
    classes = {}
    for number, line in enumerate(open(path), 1):
        words = line.split("#")[0].split()
        if words and words[0] not in ("own", "pass", "refuse"):
            generate.fail(f"{path}:{number}: 'own', 'pass' or 'refuse' is expected, not {words[0]}")
        for name in words[1:]:
            if name in classes:
                generate.fail(f"{path}:{number}: {name} is classed twice")
            classes[name] = words[0]
    return classes


def is_refused(function, classes):
    if function.member in classes:
        return classes[function.member] == "refuse"
    return any(HANDLES.search(before) for before, _ in function.types)


def names_of(function):
    return ["" if before.strip() == "..." else f"a{i}" for i, (before, _) in enumerate(function.types)]


def write_header(functions, classes, out):
    out.write("/* Made by api/ft.py. */\n#ifndef RP_FT_ENTRIES_H\n#define RP_FT_ENTRIES_H\n\n#include <mpi.h>\n\n#include \"base/visibility.h\"\n\nstruct rp_ft_real {\n")
    for f in functions:
        out.write(f"    {f.result} (*{f.member})({f.parameters(names_of(f))});\n")
    out.write("};\nextern RP_HIDDEN struct rp_ft_real rp_real;\nvoid rp_ft_real_find(void);\n\n")
    for f in functions:
        if classes.get(f.member) == "own":
            out.write(f"{f.result} rp_ft_{f.member}({f.parameters(names_of(f))});\n")
    out.write("void rp_ft_refuse(const char *name) __attribute__((noreturn));\n\n#endif\n")


def write_entry(f, classes, prefix, out):
    arguments = ", ".join(names_of(f))
    out.write(f"__attribute__((visibility(\"default\"))) {f.result} {prefix}{f.name}({f.parameters(names_of(f))})\n{{\n")
    if is_refused(f, classes):
        out.write("".join(f"    (void){name};\n" for name in names_of(f)))
        out.write(f"    rp_ft_refuse(\"{f.name}\");\n}}\n")
    else:
        out.write(f"    rp_ft_enter(\"{f.name}\");\n    return rp_ft_{f.member}({arguments});\n}}\n")


def write_entries(functions, classes, out):
    out.write("/* Made by api/ft.py. */\n#include <string.h>\n\n#include \"ft/ft_abort.h\"\n#include \"ft/ft_enter.h\"\n#include \"preload/constants.h\"\n\nstruct rp_ft_real rp_real;\n\n")
    out.write("static void find(const char *name, void *slot)\n{\n    void *symbol = rp_library_symbol(name);\n    memcpy(slot, &symbol, sizeof symbol);\n}\n\n")
    out.write("void rp_ft_real_find(void)\n{\n")
    for f in functions:
        out.write(f"    find(\"P{f.name}\", &rp_real.{f.member});\n")
    out.write("}\n\n")
    known = {f.member for f in functions}
    for f in functions:
        if classes.get(f.member) == "own" or is_refused(f, classes):
            for prefix in ("", "P"):
                write_entry(f, classes, prefix, out)
    for name in sorted(set(classes) - known):
        if classes[name] == "own":
            generate.fail(f"MPI_{name} is not in mpi.h")
        for prefix in ("", "P"):  # of a later MPI than this mpi.h
            if classes[name] == "refuse":
                out.write(f"__attribute__((visibility(\"default\"))) int {prefix}MPI_{name}(void);\n")
                out.write(f"int {prefix}MPI_{name}(void)\n{{\n    rp_ft_refuse(\"MPI_{name}\");\n}}\n")


def main():
    if len(sys.argv) != 4:
        generate.fail("usage: ft.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY")
    classes = read_classes(sys.argv[1])
    header = generate.read_header(sys.argv[2])
    functions = [f for name, f in sorted(header.items()) if name.startswith("MPI_") and not name.endswith(("_fn", "_function"))]
    with open(sys.argv[3] + "/ft_entries.h", "w") as out:
        write_header(functions, classes, out)
    with open(sys.argv[3] + "/entries.c", "w") as out:
        write_entries(functions, classes, out)


if __name__ == "__main__":
    main()
