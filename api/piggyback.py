#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-piggyback.so. Usage and output: generate.py.

An entry lets pass what is not the program's own, and hands everything else to src/cdc/piggyback. What
that calls are the usual functions, also from entries for large counts: a message with its clock is one
item of a type of its own, or short.
"""
import generate

PASS = """\
    if (RP_PASSES)
        return {twin}.{member}({args});
"""
GUARD = """\
    rp_piggyback_inside++;
    int rc = {twin}.{member}({args});
    rp_piggyback_inside--;
    return rc;
"""


def synchronising(enter, leave, end=""):
    """A collective call that may tell others that a process has come so far: clocks are exchanged."""
    return PASS + f"""\
    {enter}
    int rc = {{twin}}.{{member}}({{args}});
    if (rc == MPI_SUCCESS) {{{{
        {leave}
    }}}}
{end}    return rc;
"""


TEMPLATES = {
    "send": PASS + "    return rp_piggyback_send({twin}.{plain}, {twin}.{immediate_plain}, {args});\n",
    "isend": PASS + "    return rp_piggyback_isend({twin}.{plain}, {args});\n",
    "send_init": PASS + "    return rp_piggyback_send_init({twin}.{plain}, {args});\n",
    "complete": PASS
    + "    return rp_piggyback_complete(&{twin}, &(const struct rp_completion){completion});\n",
    "own": PASS + "    return rp_piggyback_{lower}({twin}.{plain}, {args});\n",
    "replace": PASS + "    return rp_piggyback_sendrecv_replace({twin}.Sendrecv, {args});\n",
    "buffer": PASS + "    return rp_piggyback_{member}({twin}.{member}, {args});\n",
    "refuse": PASS + "    rp_piggyback_refuse(\"{name}\");\n",
    "guard": GUARD,
    "later": "    rp_piggyback_guards = 1;\n" + GUARD,
    "collective": "    rp_piggyback_collectives++;\n    return {twin}.{member}({args});\n",
    "sync_all": synchronising("rp_sync_entering({comm});", "rp_sync_all({comm});"),
    "sync_parent": synchronising(
        "rp_sync_entering({comm});", "rp_sync_all({comm});\n        rp_sync_made(*{last});"),
    "sync_child": synchronising(
        "rp_sync_unseen(1);", "rp_sync_child(*{last});", "    rp_sync_unseen(0);\n"),
}

if __name__ == "__main__":
    generate.Library("piggyback", "cdc/piggyback/piggyback_entries.h", TEMPLATES).make()
