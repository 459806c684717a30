#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-piggyback.so, in the way of generate.py.

usage: piggyback.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

An entry lets pass what is not the program's own, and hands everything else to src/cdc/piggyback. What that calls are the usual functions, also from entries for large
counts: a message with its stamp is one item of a type of its own, or short.
"""
import re

import generate

PASS = """\
    if (RP_PASSES)
        return {twin}.{member}({args});
"""
# Functions of src/cdc/piggyback that take the real function first, then the arguments as they are.
PLAIN = ("isend send_init recv irecv recv_init mrecv imrecv sendrecv probe iprobe mprobe improbe start startall wait waitall waitany waitsome "
         "test testall testany testsome request_get_status request_free type_free")


def templates():
    bodies = {shape: f"    return rp_piggyback_{shape}({{twin}}.{{plain}}, {{args}});\n" for shape in PLAIN.split()}
    bodies["send"] = "    return rp_piggyback_send({twin}.{plain}, {twin}.{immediate_plain}, {args});\n"
    bodies["sendrecv_replace"] = "    return rp_piggyback_sendrecv_replace({twin}.Sendrecv, {args});\n"
    for name in ("attach", "detach"):
        bodies[name] = "    return rp_piggyback_{member}({twin}.{member}, {args});\n"
    bodies["refuse"] = "    rp_piggyback_refuse(\"{name}\");\n"
    made = {shape: (PASS + body, None, None, None) for shape, body in bodies.items()}
    guard = "    rp_piggyback_inside++;\n    int rc = {twin}.{member}({args});\n    rp_piggyback_inside--;\n    return rc;\n"
    made["guard"] = (guard, None, None, None)
    made["collective"] = ("    rp_piggyback_collectives++;\n    return {twin}.{member}({args});\n", None, None, None)
    for shape, sync in SYNCS.items():
        enters = "    rp_sync_unseen(1);\n" if shape == "sync_child" else "    rp_sync_entering({comm});\n"
        leaves = "    rp_sync_unseen(0);\n" if shape == "sync_child" else ""
        made[shape] = (PASS + enters + f"    int rc = {{twin}}.{{member}}({{args}});\n    if (rc == MPI_SUCCESS) {{{{\n{sync}    }}}}\n{leaves}"
                       "    return rc;\n", None, None, None)
    made["later"] = ("    rp_piggyback_guards = 1;\n" + guard, None, None, None)
    return made


def guard_files(header, table):
    """What ROMIO calls inside is not the program's; what it began may go on inside later calls."""
    for name, function in header.items():
        if name.startswith("MPI_File_") and function.result == "int":
            later = name.startswith(("MPI_File_iread", "MPI_File_iwrite"))
            table[name] = dict(kind="order" if later else "guard", used=False, shape="later", arguments=[])


# What may tell others that a process has come so far. Blocking calls are followed by an exchange of clocks; of others it is noted that there was one.
SYNCS = {
    "sync_all": "        rp_sync_all({comm});\n",
    "sync_parent": "        rp_sync_all({comm});\n        rp_sync_made(*{last});\n",
    "sync_child": "        rp_sync_child(*{last});\n",
}
COLLECTIVES = [
    (r"(allgatherv?|alltoall[vw]?|allreduce|barrier|bcast|gatherv?|reduce(_scatter(_block)?)?|scatterv?|(ex)?scan|neighbor_(allgatherv?|alltoall[vw]?))(_c)?", "sync_all"),
    (r"comm_(dup|dup_with_info|split|split_type|create)|cart_create|cart_sub|graph_create|dist_graph_create(_adjacent)?", "sync_parent"),
    (r"comm_create_group|intercomm_create|intercomm_merge", "sync_child"),
    (r"i(allgatherv?|alltoall[vw]?|allreduce|barrier|reduce(_scatter(_block)?)?|bcast|scatterv?|gatherv?|(ex)?scan|neighbor_(allgatherv?|alltoall[vw]?))(_c)?", "collective"),
    (r"comm_idup(_with_info)?", "collective"),
]


def note_collectives(header, table):
    for name, function in header.items():
        for pattern, shape in COLLECTIVES:
            if re.fullmatch(f"MPI_({pattern})", name, re.IGNORECASE) and function.result == "int":
                table[name] = dict(kind="order", used=True, shape=shape, arguments=[])


def add(header, table):
    guard_files(header, table)
    note_collectives(header, table)


if __name__ == "__main__":
    generate.make_library(templates(), add, "cdc/piggyback/piggyback_entries.h")
