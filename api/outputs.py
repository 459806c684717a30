#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-outputs.so. Usage and output: generate.py.

An entry digests what the program hands over, and ends in a jump to the real call: libreprise.so, which
stands behind, is to see the program's own place.
"""
import re

import generate

REAL = "    return {twin}.{member}({args});\n"


def digesting(call):
    return ("    if (RP_OUTPUTS) {{\n        rp_outputs_by(\"{name}\", RP_PLACE);\n"
            f"        {call};\n    }}}}\n")


# What each collective call hands over; its forms I... have the same arguments first. An array is
# followed by the size of its numbers, which is another one in functions of large counts.
COUNTS = "a1, sizeof *a1, a2, sizeof *a2, a3"
COLLECTIVES = {
    "bcast": "bcast(a0, a1, a2, a3, a4)",
    "gather": "gather(a0, a1, a2, a3, a4, a5, a6, a7)",
    "allgather": "allgather(a0, a1, a2, a3, a4, a5, a6)",
    "gatherv": "gatherv(a0, a1, a2, a3, a4, sizeof *a4, a5, sizeof *a5, a6, a7, a8)",
    "allgatherv": "allgatherv(a0, a1, a2, a3, a4, sizeof *a4, a5, sizeof *a5, a6, a7)",
    "scatter": "scatter(a0, a1, a2, a6, a7)",
    "scatterv": f"scatterv(a0, {COUNTS}, a7, a8)",
    "alltoall": "alltoall(a0, a1, a2, a3, a4, a5, a6)",
    "alltoallv": f"alltoallv(a0, {COUNTS}, a4, a5, a6, a7, a8)",
    "alltoallw": f"alltoallw(a0, {COUNTS}, a4, a5, a6, a7, a8)",
    "reduce": "reduce(a0, a1, a2, a3, a5, a6)",
    "allreduce": "allreduce(a0, a1, a2, a3)",
    "scan": "allreduce(a0, a1, a2, a3)",
    "exscan": "allreduce(a0, a1, a2, a3)",
    "reduce_scatter": "reduce_scatter(a0, a1, a2, sizeof *a2, a3, a5)",
    "reduce_scatter_block": "reduce_scatter_block(a0, a1, a2, a3, a5)",
    "neighbor_allgather": "neighbor_allgather(a0, a1, a2)",
    "neighbor_allgatherv": "neighbor_allgather(a0, a1, a2)",
    "neighbor_alltoall": "neighbor_alltoall(a0, a1, a2, a6)",
    "neighbor_alltoallv": f"neighbor_alltoallv(a0, {COUNTS}, a8)",
    "neighbor_alltoallw": f"neighbor_alltoallw(a0, {COUNTS}, a8)",
}
# What MPI calls inside is not the program's. What was begun may go on inside any later call.
GUARD = """\
    rp_outputs_inside++;
    int rc = {twin}.{member}({args});
    rp_outputs_inside--;
    return rc;
"""
TEMPLATES = {
    "send": digesting("rp_outputs_send({sent}, dest)") + REAL,
    "send_init": """\
    int rc = {twin}.{member}({args});
    if (rc == MPI_SUCCESS)
        rp_outputs_made(*request, buf, count, datatype, dest);
    return rc;
""",
    "start": digesting("rp_outputs_started(1, request)") + REAL,
    "startall": digesting("rp_outputs_started(count, requests)") + REAL,
    "request_free": "    rp_outputs_freed(request);\n" + REAL,
    "type_free": "    rp_outputs_type_freed(datatype);\n" + REAL,
    "collective": digesting("rp_outputs_{collective}") + REAL,
    "write": digesting("rp_outputs_written(a1, a2, a3)") + GUARD,
    "write_at": digesting("rp_outputs_written(a2, a3, a4)") + GUARD,
    "later": "    rp_outputs_stop();\n" + GUARD,
    "guard": GUARD,
}


class Outputs(generate.Library):
    def keys(self, entry, prefix):
        blocking = re.sub("^I", "", entry.plain_member).lower()
        return dict(super().keys(entry, prefix), collective=COLLECTIVES.get(blocking))


if __name__ == "__main__":
    Outputs("outputs", "outputs/outputs.h", TEMPLATES).make()
