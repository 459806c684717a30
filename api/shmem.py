#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of OpenSHMEM in libreprise-partial.so from shmem.table and the installed shmem.h.

usage: shmem.py TABLE PREPROCESSED_SHMEM_H OUTPUT_DIRECTORY

Writes shmem_next.h (the real functions), shmem_hand.h (prototypes of what is written by hand) and shmem_entries.c. A function of shmem.h that no line of the table fits, or one with other
parameters, as in a later version of OpenSHMEM, is refused.
"""
import fnmatch
import re
import sys

from header import parse_parameter
from table import fail

FIRST_NUMBER = 2000  # functions of MPI have smaller ones
SYMMETRIC = ("target", "source", "addr", "lock", "pSync", "pWrk")
NOT_COMPARED = SYMMETRIC + ("value", "cond", "ctx")
RETURNS = dict.fromkeys(("fetch", "test", "trylock"), True) | dict.fromkeys(
    ("update", "get", "get_nbi", "fence", "quiet", "unlock", "meet", "wait"), False)  # what these kinds are made for
LEGACY = r"start_pes|num_pes|my_pe|_num_pes|_my_pe|shmalloc|shmemalign|shrealloc|shfree|globalexit"


def prefixes(name):
    """Old names have no second one."""
    return ("", "p") if name.startswith("shmem") else ("",)


class Function:
    def __init__(self, result, name, types):
        self.result, self.name, self.types = result, name, types


class Call:
    """A function with its line of the table."""

    def __init__(self, function, kind, names, note):
        self.function, self.kind, self.names, self.note = function, kind, names, note

    name = property(lambda self: self.function.name)
    is_void = property(lambda self: self.function.result == "void")
    args = property(lambda self: ", ".join(self.names))

    @property
    def parameters(self):
        return ", ".join(f"{before}{name}{after}" for (before, after), name in zip(self.function.types, self.names)) or "void"

    @property
    def real(self):
        """A parameter: the real function."""
        types = ", ".join(f"{before}{after}" for before, after in self.function.types) or "void"
        return f"{self.function.result} (*real)({types})"

    def with_real(self):
        return self.real + (f", {self.parameters}" if self.names else "")

    def call(self, symmetric, assign=""):
        """The real call, with places in symmetric memory as the library knows them."""
        args = ", ".join(f"rp_symmetric_public({name})" if name in symmetric else name for name in self.names)
        return f"    rp_data_off++;\n    {assign}real({args});\n    rp_data_off--;\n"

    def size_of(self, name):
        before = dict(zip(self.names, self.function.types))[name][0]
        if "void" not in before:
            return f"sizeof *{name}"
        bits = re.search(r"(?:put|get)(8|16|32|64|128)(?:_nbi)?$", self.name)
        if not bits and not re.search(r"(?:put|get)mem(?:_nbi)?$", self.name):
            fail(f"shmem.table: {self.name}: how long is what it takes?")
        return str(int(bits[1]) // 8) if bits else "1"

    @property
    def length(self):
        return "len" if "len" in self.names else "1"

    def stride(self, name):
        return name if name in self.names else "1"

    @property
    def check(self):
        value = "0"
        for name in self.names:
            if name in ("target", "source", "addr", "lock"):
                value = f"rp_check({value}, rp_symmetric_number({name}))"
            elif name not in NOT_COMPARED:
                value = f"rp_check({value}, (int64_t){name})"
        return value

    @property
    def context(self):
        return "rp_shmem_context(ctx)" if "ctx" in self.names else "NULL"


def body(call, text):
    return f"static {call.function.result} do_{call.name}({call.with_real()})\n{{\n{text}}}\n\n"


def around(call, symmetric, before, after):
    """`before` says whether the call is to be made."""
    return body(call, f"    if (!{before})\n        return;\n{call.call(symmetric)}    {after};\n")


def update(call):
    access = f"&f_{call.name}, target, {call.size_of('target')}, {call.stride('tst')}, {call.length}, pe"
    return around(call, ("target",), f"rp_shmem_update({access})", f"rp_shmem_updated({access})")


def fetch(call):
    access = f"&f_{call.name}, source, sizeof *source, pe, &result, sizeof result"
    return body(call, f"    {call.function.result} result;\n\n    if (!rp_shmem_fetch({access}))\n        return result;\n{call.call(('source',), 'result = ')}    rp_shmem_fetched({access});\n    return result;\n")


def get(call, kind="get"):
    read = f"&(struct rp_shmem_read){{target, {call.size_of('target')}, {call.stride('tst')}, {call.length}, {call.context}, NULL}}"
    access = f"&f_{call.name}, {read}, source, {call.stride('sst')}, pe"
    return around(call, ("source",), f"rp_shmem_{kind}({access})", f"rp_shmem_{kind}_end({access})")


def get_nbi(call):
    return get(call, "get_nbi")


def order(call, completes):
    return around(call, SYMMETRIC, f"rp_shmem_order(&f_{call.name}, {call.check}, {completes}, {call.context})", f"rp_shmem_ordered(&f_{call.name}, {call.check}, {completes}, {call.context})")


def fence(call):
    return order(call, "false")


def quiet(call):
    return order(call, "true")


def unlock(call):
    return order(call, "false")


def meet(call):
    completes = "true" if call.note == "quiets" else "false"
    return around(call, SYMMETRIC, f"rp_shmem_meet(&f_{call.name}, {call.check}, {completes})", f"rp_shmem_met(&f_{call.name}, {call.check}, {completes})")


def wait(call):
    return meet(call)


def test(call, yes="result"):
    access = f"&f_{call.name}, {call.check}"
    return body(call, f"    int result;\n\n    if (!rp_shmem_test({access}, &result))\n        return result;\n{call.call(SYMMETRIC, 'result = ')}    rp_shmem_tested({access}, result, {yes});\n    return result;\n")


def trylock(call):
    return test(call, "!result")


def hand(call):
    args = ", ".join(["real"] + call.names)
    return body(call, f"    {'' if call.is_void else 'return '}rp_shmem_{call.note}({args});\n")


def pass_(call):
    return body(call, f"    if (!rp_partial.is_feeding)\n        real({call.args});\n")


def refuse(call):
    return body(call, "    (void)real;\n" + "".join(f"    (void){name};\n" for name in call.names) + f"    rp_data_refuse(\"{call.name}\");\n")


KINDS = {f.__name__.rstrip("_"): f for f in (update, fetch, get, get_nbi, fence, quiet, unlock, meet, wait, test, trylock, hand, pass_, refuse)}


def read_header(path):
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", open(path).read())
    functions = {}
    for piece in re.split(r"[;{}]", text):
        match = re.fullmatch(rf"\s*(?:extern\s+)?((?:[\w]+[\s*]+)+)(shmemx?_\w+|{LEGACY})\s*\(([^()]*)\)\s*", piece)
        if not match or "typedef" in match[1] or "..." in match[3]:
            continue
        parameters = [] if match[3].strip() in ("", "void") else match[3].split(",")
        functions[match[2]] = Function(" ".join(match[1].split()), match[2], [parse_parameter(p) for p in parameters])
    if len(functions) < 500:
        fail(f"only {len(functions)} functions found in {path}: is it a preprocessed shmem.h?")
    return [f for _, f in sorted(functions.items())]


def read_table(path):
    lines = []
    for number, line in enumerate(open(path), 1):
        if line.startswith("#") or not line.strip():
            continue
        match = re.fullmatch(r"(\S+) (\w+)\(([\w, ]*)\)(?: (\w+))?", line.strip())
        if not match or match[2] not in list(KINDS) + ["life"]:
            fail(f"{path}:{number}: not 'NAME KIND(parameters) [note]': {line.strip()}")
        lines.append((match[1], match[2], [p.strip() for p in match[3].split(",") if p.strip()], match[4] or ""))
    return lines


def describe(function, lines):
    for pattern, kind, names, note in lines:
        if not fnmatch.fnmatchcase(function.name, pattern) and not fnmatch.fnmatchcase(function.name.replace("_ctx_", "_", 1), pattern):
            continue
        if "_ctx_" in function.name and pattern != function.name:
            names = ["ctx"] + names
        if len(names) == len(function.types) and (function.result == "void") is not RETURNS.get(kind, None):
            return Call(function, kind, names, note)
    return Call(function, "refuse", [f"a{i}" for i in range(len(function.types))], "")


def entry(call, prefix):
    table = "rp_pshmem" if prefix else "rp_shmem"
    name, args = call.name, call.args
    comma = ", " if args else ""
    if call.is_void:
        passes = f"        {table}.{name}({args});\n        return;\n    }}\n    "
    else:
        passes = f"        return {table}.{name}({args});\n    }}\n    return "
    return f"RP_ENTRY {call.function.result} {prefix}{name}({call.parameters})\n{{\n    if (!rp_shmem_on || (RP_PASSES && rp_shmem_passes(\"{name}\"))) {{\n{passes}do_{name}({table}.{name}{comma}{args});\n}}\n\n"


def first(call, prefix):
    """What the tables hold until the library is found."""
    table = "rp_pshmem" if prefix else "rp_shmem"
    back = "" if call.is_void else "return "
    return (f"static {call.function.result} first_{prefix}{call.name}({call.parameters})\n{{\n    rp_shmem_resolve();\n    if ({table}.{call.name} == first_{prefix}{call.name})\n"
            f"        rp_next_missing(\"{prefix}{call.name}\");\n    {back}{table}.{call.name}({call.args});\n}}\n\n")


def write_next(calls, out):
    out.write("/* Made by api/shmem.py. */\n#ifndef RP_SHMEM_NEXT_H\n#define RP_SHMEM_NEXT_H\n\n#include <shmem.h>\n#include <shmemx.h>\n\n#include \"base/visibility.h\"\n\n")
    out.write("/* The real functions: those that a call would reach without us. */\nstruct rp_shmem_next {\n")
    for call in calls:
        out.write(f"    {call.real.replace('(*real)', '(*' + call.name + ')')};\n")
    out.write("};\n\nextern RP_HIDDEN struct rp_shmem_next rp_shmem, rp_pshmem;\nvoid rp_shmem_resolve(void);\n\n#endif\n")


def write_hand(calls, out):
    out.write("/* Made by api/shmem.py. */\n#ifndef RP_SHMEM_HAND_H\n#define RP_SHMEM_HAND_H\n\n#include <shmem.h>\n\n")
    for note, call in sorted({call.note: call for call in calls if call.kind == "hand"}.items()):
        out.write(f"{call.function.result} rp_shmem_{note}({call.with_real()});\n")
    out.write("\n#endif\n")


def write_entries(calls, out):
    out.write("/* Made by api/shmem.py. */\n#include \"shmem/sides.h\"\n\n#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n\n")
    for prefix in ("", "p"):
        for call in calls:
            if prefix in prefixes(call.name):
                out.write(first(call, prefix))
    for prefix, table in (("", "rp_shmem"), ("p", "rp_pshmem")):
        out.write(f"struct rp_shmem_next {table} = {{\n" + "".join(f"    .{c.name} = first_{prefix}{c.name},\n" for c in calls if prefix in prefixes(c.name)) + "};\n\n")
    out.write("void rp_shmem_resolve(void)\n{\n")
    for prefix, table in (("", "rp_shmem"), ("p", "rp_pshmem")):
        for call in (c for c in calls if prefix in prefixes(c.name)):
            out.write(f"    rp_next_find(\"{prefix}{call.name}\", &{table}.{call.name}, sizeof {table}.{call.name});\n")
    out.write("}\n\n")
    for number, call in enumerate(calls, FIRST_NUMBER):
        if call.kind not in ("hand", "pass", "refuse"):
            out.write(f"static const struct rp_function f_{call.name} = {{{number}, \"{call.name}\"}};\n\n")
        out.write(KINDS[call.kind](call) + "".join(entry(call, prefix) for prefix in prefixes(call.name)))


def main():
    if len(sys.argv) != 4:
        fail("usage: shmem.py TABLE PREPROCESSED_SHMEM_H OUTPUT_DIRECTORY")
    lines = read_table(sys.argv[1])
    calls = [call for call in (describe(f, lines) for f in read_header(sys.argv[2])) if call.kind != "life"]
    for name, write in (("shmem_next.h", write_next), ("shmem_hand.h", write_hand), ("shmem_entries.c", write_entries)):
        with open(f"{sys.argv[3]}/{name}", "w") as out:
            write(calls, out)


if __name__ == "__main__":
    main()
