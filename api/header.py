# SPDX-License-Identifier: MIT
"""Reads the prototypes of a preprocessed mpi.h."""
import re

from table import fail


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


def parse_parameter(text):
    text = " ".join(text.split())
    match = re.fullmatch(r"(.*?)(\b\w+)?((?:\[\d*\])*)", text)
    before, name, after = re.sub(r"(\w)\*", r"\1 *", match[1]), match[2], match[3]
    if name is None or before.strip() == "" or name in ("int", "void", "MPI_Comm", "char"):
        return (text + " ", "") if not after else (before + (name or "") + " ", after)
    return before, after


def read_header(path):
    """All MPI_ and MPIX_ prototypes of a preprocessed mpi.h, by name."""
    attribute = r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)"
    with open(path) as header:
        text = re.sub(attribute, " ", header.read())
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
