#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-blocking.so. Usage and output: generate.py.

An entry notes that the calling thread is in this call, makes it, and notes that it no longer is.
"""
import generate

CALL = "    {result} rc = {twin}.{member}({args});\n    rp_blocking_leave();\n    return rc;\n"
ENTER = "    rp_blocking_enter(\"{name}\", RP_FRAME, RP_RETURNS, "
TEMPLATES = {
    "send": ENTER + "&comm, RP_PEER_TO, dest, tag);\n" + CALL,
    "receive": ENTER + "&comm, RP_PEER_FROM, source, tag);\n" + CALL,
    "collective": ENTER + "&{comm}, RP_PEER_NONE, 0, 0);\n" + CALL,
    "other": ENTER + "NULL, RP_PEER_NONE, 0, 0);\n" + CALL,
    "guard": "    rp_blocking_pass(RP_FRAME);\n" + CALL,
}

if __name__ == "__main__":
    generate.Library("blocking", "blocking/blocking_calls.h", TEMPLATES).make()
