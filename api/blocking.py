#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-blocking.so, in the way of generate.py.

usage: blocking.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

An entry notes that the calling thread is in this call, makes it, and notes that it no longer is.
"""
import re

import piggyback
import generate

CALL = "    {result} rc = {twin}.{member}({args});\n    rp_blocking_leave();\n    return rc;\n"
ENTER = "    rp_blocking_enter(\"{name}\", RP_FRAME, RP_RETURNS, "

# Collective calls, and whatever else waits for other ranks. {comm} is the first communicator among the arguments; some have none.
WAITING = "|".join(pattern for pattern, shape in piggyback.COLLECTIVES if shape.startswith("sync")) + (
    r"|(allgatherv?|alltoall[vw]?|allreduce|barrier|bcast|gatherv?|reduce(_scatter(_block)?)?|scatterv?|(ex)?scan|neighbor_(allgatherv?|alltoall[vw]?))_init(_c)?"
    r"|comm_(free|disconnect|create_from_group|accept|connect|spawn|spawn_multiple|join)|intercomm_create_from_groups|session_finalize|buffer_detach(_c)?"
    r"|win_(create|create_dynamic|allocate|allocate_shared|free|fence|start|complete|wait|lock|lock_all|unlock|unlock_all|flush|flush_all|flush_local|flush_local_all)(_c)?")


def templates():
    bodies = {
        "send": ENTER + "&comm, RP_PEER_TO, dest, tag);\n" + CALL,
        "receive": ENTER + "&comm, RP_PEER_FROM, source, tag);\n" + CALL,
        "collective": ENTER + "&{comm}, RP_PEER_NONE, 0, 0);\n" + CALL,
        "other": ENTER + "NULL, RP_PEER_NONE, 0, 0);\n" + CALL,
        "guard": "    rp_blocking_pass(RP_FRAME);\n" + CALL,
    }
    return {shape: (body, None, None, None) for shape, body in bodies.items()}


def has_comm(function):
    return any(before.strip() == "MPI_Comm" and not after for before, after in function.types)


def add(header, table):
    for name, function in header.items():
        if re.fullmatch(f"MPI_({WAITING})", name, re.IGNORECASE) and function.result == "int":
            table[name] = dict(kind="order", used=False, shape="collective" if has_comm(function) else "other", arguments=[])
        elif name.startswith("MPI_File_") and function.result == "int":
            table[name] = dict(kind="guard", used=False, shape="guard", arguments=[])


if __name__ == "__main__":
    generate.make_library(templates(), add, "blocking/blocking_calls.h")
