#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-outputs.so, in the way of generate.py.

usage: outputs.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

An entry tells src/outputs what the program hands over, and ends in a jump to the real call: libreprise.so, which stands behind, is to see the program's own place.
"""
import re

import generate

REAL = "    return {twin}.{member}({args});\n"


def telling(what):
    return "    if (RP_OUTPUTS) {{\n        rp_outputs_by(\"{name}\", RP_PLACE);\n        " + what + ";\n    }}\n"


# What each collective call hands over; its forms I... have the same arguments first. An array is followed by the size of its numbers, which is another one in functions of large counts.
COUNTS = "a1, sizeof *a1, a2, sizeof *a2, a3"
COLLECTIVES = {
    "bcast": "rp_outputs_bcast(a0, a1, a2, a3, a4)",
    "gather": "rp_outputs_gather(a0, a1, a2, a3, a4, a5, a6, a7)",
    "allgather": "rp_outputs_allgather(a0, a1, a2, a3, a4, a5, a6)",
    "gatherv": "rp_outputs_gatherv(a0, a1, a2, a3, a4, sizeof *a4, a5, sizeof *a5, a6, a7, a8)",
    "allgatherv": "rp_outputs_allgatherv(a0, a1, a2, a3, a4, sizeof *a4, a5, sizeof *a5, a6, a7)",
    "scatter": "rp_outputs_scatter(a0, a1, a2, a6, a7)",
    "scatterv": f"rp_outputs_scatterv(a0, {COUNTS}, a7, a8)",
    "alltoall": "rp_outputs_alltoall(a0, a1, a2, a3, a4, a5, a6)",
    "alltoallv": f"rp_outputs_alltoallv(a0, {COUNTS}, a4, a5, a6, a7, a8)",
    "alltoallw": f"rp_outputs_alltoallw(a0, {COUNTS}, a4, a5, a6, a7, a8)",
    "reduce": "rp_outputs_reduce(a0, a1, a2, a3, a5, a6)",
    "allreduce": "rp_outputs_allreduce(a0, a1, a2, a3)",
    "scan": "rp_outputs_allreduce(a0, a1, a2, a3)",
    "exscan": "rp_outputs_allreduce(a0, a1, a2, a3)",
    "reduce_scatter": "rp_outputs_reduce_scatter(a0, a1, a2, sizeof *a2, a3, a5)",
    "reduce_scatter_block": "rp_outputs_reduce_scatter_block(a0, a1, a2, a3, a5)",
    "neighbor_allgather": "rp_outputs_neighbor_allgather(a0, a1, a2)",
    "neighbor_allgatherv": "rp_outputs_neighbor_allgather(a0, a1, a2)",
    "neighbor_alltoall": "rp_outputs_neighbor_alltoall(a0, a1, a2, a6)",
    "neighbor_alltoallv": f"rp_outputs_neighbor_alltoallv(a0, {COUNTS}, a8)",
    "neighbor_alltoallw": f"rp_outputs_neighbor_alltoallw(a0, {COUNTS}, a8)",
}
# What MPI calls inside is not the program's. What was begun may go on inside any later call.
INSIDE = "    rp_outputs_inside++;\n    int rc = {twin}.{member}({args});\n    rp_outputs_inside--;\n    return rc;\n"


def templates():
    bodies = {
        "send": telling("rp_outputs_send(buf, count, datatype, dest)") + REAL,
        "send_init": ("    int rc = {twin}.{member}({args});\n    if (rc == MPI_SUCCESS)\n        rp_outputs_made(*request, buf, count, datatype, dest);\n    return rc;\n"),
        "start": telling("rp_outputs_started(1, request)") + REAL,
        "startall": telling("rp_outputs_started(count, requests)") + REAL,
        "request_free": "    rp_outputs_freed(request);\n" + REAL,
        "type_free": "    rp_outputs_type_freed(datatype);\n" + REAL,
        "write": telling("rp_outputs_written(a1, a2, a3)") + INSIDE,
        "write_at": telling("rp_outputs_written(a2, a3, a4)") + INSIDE,
        "later": "    rp_outputs_stop();\n" + INSIDE,
        "guard": INSIDE,
    }
    bodies.update({"collective_" + name: telling(call) + REAL for name, call in COLLECTIVES.items()})
    return {shape: (body, None, None, None) for shape, body in bodies.items()}


def shape_of_file(name):
    if name.startswith(("MPI_File_iread", "MPI_File_iwrite")):
        return "later"
    match = re.fullmatch(r"MPI_File_write(_at)?(_all|_shared|_ordered)?(_begin)?(_c)?", name)
    return ("write_at" if match[1] else "write") if match else None


def add(header, table):
    for name, function in header.items():
        if function.result != "int" or name in table:
            continue
        collective = re.fullmatch(r"MPI_I?(\w+?)(_c)?", name)
        if name.startswith("MPI_File_"):
            shape = shape_of_file(name)
            table[name] = dict(kind="order" if shape else "guard", used=False, shape=shape, arguments=[])
        elif collective and collective[1].lower() in COLLECTIVES:
            table[name] = dict(kind="order", used=False, shape="collective_" + collective[1].lower(), arguments=[])


if __name__ == "__main__":
    generate.make_library(templates(), add, "outputs/outputs.h")
