#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-stress.so. Usage and output: generate.py.

An entry asks src/stress whether the call is to be disturbed, says what the call waits for, and makes
the real call, perhaps with another source and tag.
"""
import generate

SEND = "    rp_stress_before_send();\n"
RECEIVE = "    rp_stress_waits_for_message(\"{name}\", source, tag, comm);\n"
TAKE = RECEIVE + "    rp_stress_before_take(&source, &tag, comm);\n"
CALL = "    return {twin}.{member}({args});\n"
BLOCKED = "    int rc = {twin}.{member}({args});\n    rp_stress_goes_on();\n    return rc;\n"
TEMPLATES = {
    "isend": SEND + CALL,
    "send": SEND + "    rp_stress_waits_to_send(\"{name}\", dest, tag, comm);\n" + BLOCKED,
    "exchange": SEND + RECEIVE + BLOCKED,
    "receive": TAKE + BLOCKED,
    "probe": TAKE + "    rp_stress_found();\n" + BLOCKED,
    "post": "    rp_stress_before_post(&source, &tag, comm);\n" + CALL,
    "iprobe": "    return rp_stress_{lower}({twin}.{member}, \"{name}\", {args});\n",
    "complete": "    return rp_stress_complete(&{twin}, &(const struct rp_completion){completion});\n",
    "own": "    return rp_stress_{lower}({twin}.{member}, {args});\n",
    "collective": SEND + "    rp_stress_waits_for_all(\"{name}\", {comm});\n" + BLOCKED,
    "flush": "    rp_stress_asks_no_more();\n" + CALL,
    "life": "    rp_stress_finishes();\n" + CALL,
}

if __name__ == "__main__":
    generate.Library("stress", "stress/stress.h", TEMPLATES).make()
