#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-isendrecv.so. Usage and output: generate.py.

While no MPI_Isendrecv is under way, an entry ends in a jump to the real call: what stands behind
is to see the program's own place.
"""
import generate
from header import Function

TEMPLATES = {
    "begin": "    return rp_pair_begin(&{twin}, {args});\n",
    "replace": "    return rp_pair_begin_replace(&{twin}, {args});\n",
    "own": """\
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


class Isendrecv(generate.Library):
    def complete(self, header):
        for name, types in LATER.items():
            header.setdefault(name, Function(name, "int", types))


if __name__ == "__main__":
    Isendrecv("isendrecv", "isendrecv/isendrecv.h", TEMPLATES).make()
