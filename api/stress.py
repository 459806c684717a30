#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-stress.so, in the way of generate.py.

usage: stress.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

An entry asks src/stress whether the call is to be disturbed, tells it what it waits for, and makes the real call, perhaps with another source and tag.
"""
import re

import piggyback
import generate

BLOCKED = "    int rc = {twin}.{member}({args});\n    rp_stress_goes_on();\n    return rc;\n"
COLLECTIVE = ("sync_all", "sync_parent", "sync_child")
REQUESTS = "wait waitall waitany waitsome test testall testany testsome get_status"


def templates():
    bodies = {
        "isend": "    rp_stress_before_send();\n    return {twin}.{member}({args});\n",
        "send": "    rp_stress_before_send();\n    rp_stress_waits_to_send(\"{name}\", dest, tag, comm);\n" + BLOCKED,
        "both": "    rp_stress_before_send();\n    rp_stress_waits_for_message(\"{name}\", source, tag, comm);\n" + BLOCKED,
        "take": "    rp_stress_waits_for_message(\"{name}\", source, tag, comm);\n    rp_stress_before_take(&source, &tag, comm);\n" + BLOCKED,
        "probe": "    rp_stress_waits_for_message(\"{name}\", source, tag, comm);\n    rp_stress_before_take(&source, &tag, comm);\n    rp_stress_found();\n" + BLOCKED,
        "post": "    rp_stress_before_post(&source, &tag, comm);\n    return {twin}.{member}({args});\n",
        "iprobe": "    return rp_stress_iprobe({twin}.{member}, \"{name}\", {args});\n",
        "improbe": "    return rp_stress_improbe({twin}.{member}, \"{name}\", {args});\n",
        "finalize": "    rp_stress_finishes();\n    return {twin}.{member}({args});\n",
        "collective": "    rp_stress_before_send();\n    rp_stress_waits_for_all(\"{name}\", {comm});\n" + BLOCKED,
    }
    for shape in REQUESTS.split():
        bodies[shape] = f"    return rp_stress_{shape}({{twin}}.{{member}}, {{args}});\n"
    return {shape: (body, None, None, None) for shape, body in bodies.items()}


def add_collectives(header, table):
    for name, function in header.items():
        for pattern, shape in piggyback.COLLECTIVES:
            if shape in COLLECTIVE and re.fullmatch(f"MPI_({pattern})", name, re.IGNORECASE) and function.result == "int":
                table[name] = dict(kind="order", used=False, shape="collective", arguments=[])


if __name__ == "__main__":
    generate.make_library(templates(), add_collectives, "stress/stress.h")
