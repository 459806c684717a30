#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise.so from functions.table and the installed mpi.h.

usage: generate.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

Writes next.h (the real functions, one table for MPI_ and one for PMPI_) and entries.c (a wrapper MPI_X and PMPI_X for each
intercepted function). A function of mpi.h that the table does not class is an error.
"""
import re
import sys

CLASSES = {"pass", "guard", "order", "create", "refuse", "life"}


class Function:
    def __init__(self, name, result, types):
        self.name = name
        self.result = result
        self.types = types  # of the parameters, as (before the name, after the name)

    @property
    def member(self):
        return re.sub(r"^MPI_", "", self.name)

    def parameters(self, names):
        if not self.types:
            return "void"
        return ", ".join(f"{before}{name}{after}" for (before, after), name in zip(self.types, names))


def fail(message):
    sys.exit(f"generate.py: error: {message}")


def read_table(path):
    table = {}
    for number, line in enumerate(open(path), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"(\w+) (\w+)( used)?(?: (\w+)\(([\w, ]*)\))?", line)
        if not match or match[2] not in CLASSES:
            fail(f"{path}:{number}: not 'NAME CLASS [used] [SHAPE(arguments)]': {line}")
        if match[1] in table:
            fail(f"{path}:{number}: {match[1]} is classed twice")
        arguments = [a.strip() for a in (match[5] or "").split(",") if a.strip()]
        table[match[1]] = dict(kind=match[2], used=bool(match[3]), shape=match[4], arguments=arguments)
    return table


def parse_parameter(text):
    text = " ".join(text.split())
    match = re.fullmatch(r"(.*?)(\b\w+)?((?:\[\d*\])*)", text)
    before, name, after = match[1], match[2], match[3]
    if name is None or before.strip() == "" or name in ("int", "void", "MPI_Comm", "char"):
        return (text + " ", "") if not after else (before + (name or "") + " ", after)
    return before, after


def read_header(path):
    """All MPI_ and MPIX_ prototypes of a preprocessed mpi.h."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", open(path).read())
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    functions = {}
    pattern = r"\b((?:int|double|MPI_\w+)\s*\*?)\s*\b(MPIX?_\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*;"
    for match in re.finditer(pattern, text):
        if match[1].strip() == "return":
            continue
        body = match[3].strip()
        parameters = [] if body in ("", "void") else re.split(r",(?![^()]*\))", body)
        functions[match[2]] = Function(match[2], match[1].strip(), [parse_parameter(p) for p in parameters])
    if len(functions) < 300:
        fail(f"only {len(functions)} functions found in {path}: is it a preprocessed mpi.h?")
    return functions


def arguments_of(function, entry):
    if entry["arguments"]:
        if len(entry["arguments"]) != len(function.types):
            fail(f"{function.name}: the table names {len(entry['arguments'])} arguments, mpi.h has {len(function.types)}")
        return entry["arguments"]
    return [f"a{i}" for i in range(len(function.types))]


def write_next(functions, table, out):
    out.write("/* Made by api/generate.py. */\n#ifndef RP_NEXT_H\n#define RP_NEXT_H\n\n#include <mpi.h>\n\n")
    out.write("/* The real functions: those that a call would reach without us. */\nstruct rp_next {\n")
    for function in functions:
        names = arguments_of(function, table[function.name])
        out.write(f"    {function.result} (*{function.member})({function.parameters(names)});\n")
    out.write("};\n\nextern struct rp_next rp_mpi;  /* the MPI_ names */\n")
    out.write("extern struct rp_next rp_pmpi; /* the PMPI_ names */\n\n")
    out.write("/* Looks the names up; what is not found keeps its present value. */\nvoid rp_next_resolve(void);\n\n#endif\n")


# What an entry point does: the fast half, which decides whether the call needs an engine, and the slow half, which is a function of its own so that
# the fast one needs no stack frame to speak of.
TEMPLATES = {
    "receive": ("""\
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    if (!(RP_IS_WILD(source, tag) || rp_self.every_call || RP_MAY_OVERLAP(tag)))
        RP_PASS({twin}.{member}({args}));
""", """\
    struct rp_envelope e;
    RP_ENVELOPE(e, source, tag, comm, status, {sends});
    rp_engine->receive_begin(&call, &e);
    int rc = {twin}.{member}({changed});
    rp_engine->receive_end(&call, &e, rc);
    return rc;
"""),
    "post": ("""\
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    if (!rp_self.every_call) {{
        rp_self.depth++;
        int rc = {twin}.{member}({args});
        rp_self.depth--;
        if (rc == MPI_SUCCESS)
            RP_IS_WILD(source, tag) ? rp_engine->posted(*request, source, tag) : rp_requests_note_named(*request);
        return rc;
    }}
""", """\
    struct rp_envelope e;
    RP_ENVELOPE(e, source, tag, comm, NULL, {sends});
    struct rp_buffer_args b = {{buf, count, datatype}};
    rp_engine->post_begin(&call, &e, &b);
    int rc = {twin}.{member}({changed});
    rp_engine->post_end(&call, &e, rc, request);
    return rc;
"""),
    "post_exchange": ("""\
    if (!RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)) && RP_IS_WILD(source, tag))
        rp_refuse("{name}");
    return {twin}.{member}({args});
""", None),
    "persistent": ("""\
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
""", """\
    struct rp_envelope e;
    RP_ENVELOPE(e, source, tag, comm, NULL, 0);
    struct rp_buffer_args b = {{buf, count, datatype}};
    rp_engine->persistent_begin(&call, &e, &b);
    int rc = {twin}.{member}({changed});
    rp_engine->persistent_end(&call, &e, rc, request);
    return rc;
"""),
    "start": ("""\
    if (RP_ELSEWHERE("{name}", RP_OWNER(persistent)))
        return {twin}.{member}({args});
    if (!rp_self.persistent)
        RP_PASS({twin}.{member}({args}));
""", """\
    return rp_engine->{member}(&call, {args});
"""),
    "probe": ("""\
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    if (!(RP_IS_WILD(source, tag) || rp_self.every_call))
        RP_PASS({twin}.{member}({args}));
""", """\
    return rp_engine->{member}(&call, {args});
"""),
    "wait": ("""\
    if (RP_ELSEWHERE("{name}", RP_OWNER(watched)))
        return {twin}.{member}({args});
    rp_self.waits++;
    if (!rp_self.watched)
        RP_PASS({twin}.{member}({args}));
""", """\
    return rp_engine->{member}(&call, {args});
"""),
    "call": ("""\
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    struct rp_call call = RP_CALL("{name}", &{twin});
    return rp_engine->{member}(&call, {args});
""", None),
    "fresh": ("""\
    int rc = {twin}.{member}({args});
    if (rc == MPI_SUCCESS && !rp_self.depth)
        rp_requests_note_other(*request);
    return rc;
""", None),
    "life": ("""\
    return rp_life_{member}(&{twin}{comma}{args});
""", None),
    "guard": ("""\
    rp_self.depth++;
    {result} rc = {twin}.{member}({args});
    rp_self.depth--;
    return rc;
""", None),
    "refuse": ("""\
    rp_refuse("{name}");
    return {twin}.{member}({args});
""", None),
}
SENDS = {"exchange": ("receive", 1)}


def wrapper(function, entry, prefix):
    names = arguments_of(function, entry)
    kind = entry["kind"]
    shape = entry["shape"] if kind in ("order", "create") else kind
    shape, sends = SENDS.get(shape, (shape, 0))
    args = ", ".join(names)
    changed = ", ".join({"source": "e.source", "tag": "e.tag", "comm": "e.comm", "status": "e.status"}.get(n, n) for n in names)
    fast, slow = TEMPLATES[shape]
    names_of = dict(
        name=function.name, member=function.member, twin="rp_pmpi" if prefix == "P" else "rp_mpi", args=args,
        changed=changed, sends=sends, result=function.result, comma=", " if args else "")
    parameters = function.parameters(names)
    text = ""
    if slow:
        text = (f"static __attribute__((noinline)) {function.result} slow_{prefix}{function.name}({parameters}, uintptr_t return_address,"
                f" uintptr_t stack)\n{{\n    struct rp_call call = {{\"{function.name}\", &{names_of['twin']}, return_address, stack}};\n"
                f"{slow.format(**names_of)}}}\n\n")
        fast += f"    return slow_{prefix}{function.name}({args}, RP_HERE);\n"
        fast = fast.replace("RP_HERE", "(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)")
    return text + f"RP_ENTRY {function.result} {prefix}{function.name}({parameters})\n{{\n{fast.format(**names_of)}}}\n\n"


def first_call(function, entry, prefix):
    """What the tables hold until the library is found: mpi4py loads it late."""
    names = arguments_of(function, entry)
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    args = ", ".join(names)
    return (f"static {function.result} first_{prefix}{function.name}({function.parameters(names)})\n{{\n"
            f"    rp_next_resolve();\n    if ({twin}.{function.member} == first_{prefix}{function.name})\n"
            f"        rp_next_missing(\"{prefix}{function.name}\");\n    return {twin}.{function.member}({args});\n}}\n\n")


def write_entries(intercepted, known, table, out):
    out.write("/* Made by api/generate.py. */\n#include \"mpi/entry.h\"\n\n")
    for prefix in ("", "P"):
        for function in intercepted:
            out.write(first_call(function, table[function.name], prefix))
    for prefix, twin in (("", "rp_mpi"), ("P", "rp_pmpi")):
        out.write(f"struct rp_next {twin} = {{\n")
        for function in intercepted:
            out.write(f"    .{function.member} = first_{prefix}{function.name},\n")
        out.write("};\n\n")
    out.write("void rp_next_resolve(void)\n{\n")
    for prefix, twin in (("", "rp_mpi"), ("P", "rp_pmpi")):
        for function in known:
            out.write(f"    rp_next_find(\"{prefix}{function.name}\", &{twin}.{function.member}, sizeof {twin}.{function.member});\n")
    out.write("}\n\n")
    for function in intercepted:
        for prefix in ("", "P"):
            out.write(wrapper(function, table[function.name], prefix))


def main():
    if len(sys.argv) != 4:
        fail("usage: generate.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY")
    table = read_table(sys.argv[1])
    header = read_header(sys.argv[2])
    unclassed = sorted(set(header) - set(table))
    if unclassed:
        fail("mpi.h declares functions that api/functions.table does not class: " + " ".join(unclassed))
    known = [f for n, f in sorted(header.items()) if table[n]["used"] or table[n]["kind"] != "pass"]
    intercepted = [f for f in known if table[f.name]["kind"] != "pass"]
    with open(sys.argv[3] + "/next.h", "w") as out:
        write_next(known, table, out)
    with open(sys.argv[3] + "/entries.c", "w") as out:
        write_entries(intercepted, known, table, out)


if __name__ == "__main__":
    main()
