#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-isendrecv.so, in the way of generate.py.

usage: isendrecv.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

While no MPI_Isendrecv is under way, an entry ends in a jump to the real call: what stands behind
is to see the program's own place.
"""
import generate

TEMPLATES = {
    "begin": "    return rp_pair_begin(&{twin}, {args});\n",
    "begin_replace": "    return rp_pair_begin_replace(&{twin}, {args});\n",
    "request": """\
    if (RP_NO_PAIRS)
        return {twin}.{member}({args});
    return rp_pair_{member}(&{twin}, {args});
""",
}
INT, POINTER, REQUEST = ("int ", ""), ("void *", ""), ("MPI_Request *", "")
BUFFER = [POINTER, INT, ("MPI_Datatype ", "")]
SENT = [("const void *", "")] + BUFFER[1:]
PEERS = [INT, INT, ("MPI_Comm ", ""), REQUEST]
# Programs of a later MPI run under libreprise-ft.so, which an mpi.h without these may have made.
LATER = {
    "MPI_Isendrecv": SENT + [INT, INT] + BUFFER + PEERS,
    "MPI_Isendrecv_replace": BUFFER + [INT, INT] + PEERS,
}


def add(header, table):
    for name, types in LATER.items():
        if name not in header:
            header[name] = generate.Function(name, "int", types)


if __name__ == "__main__":
    shapes = {shape: (body, None, None, None) for shape, body in TEMPLATES.items()}
    generate.make_library(shapes, add, "isendrecv/isendrecv.h")
