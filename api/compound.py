#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-compound.so. Usage and output: generate.py.

A call that is not about the request of an MPI_Isendrecv ends in a jump to the real function: what
stands behind is to see the program's own place.
"""
import re

import generate
from header import Function

# In a function of its own: so an entry takes no instruction more while no pair is pending.
COMPLETE = """\
static RP_NOINLINE {result} complete_{own}({parameters})
{{
    bool has_pair = rp_pair_is_among({counted});
    if (!has_pair && RP_NO_PERSISTENTS)
        return {twin}.{member}({args});
    const struct rp_completion call = {completion};
    int rc = has_pair ? rp_pair_complete(&{twin}, &call) : {twin}.{member}({args});
    return RP_NO_PERSISTENTS ? rc : rp_persistent_completed(&call, rc);
}}

"""
# By MPI's function for explicit offsets.
PLACED = """\
    MPI_Offset place;
    if (!{take}(RP_FILE_CALL("{{name}}", &{{twin}}), {{names[0]}}, {{names[2]}}, {{names[3]}}, &place))
        return {{twin}}.{{member}}({{args}});
    return {{twin}}.{{at_place}}({{names[0]}}, place, {{more}});
"""
TEMPLATES = {
    "begin": "    return rp_pair_begin(&{twin}, {args});\n",
    "replace": "    return rp_pair_begin_replace(&{twin}, {args});\n",
    "complete": """\
    if (RP_NO_PAIRS && RP_NO_PERSISTENTS)
        return {twin}.{member}({args});
    return complete_{own}({args});
""",
    "own": """\
    if (RP_NO_PAIRS && RP_NO_PERSISTENTS)
        return {twin}.{member}({args});
    return rp_pair_{member}(&{twin}, {args});
""",
    "persistent": """\
    if (!rp_persistent_is_wanted())
        return {twin}.{member}({args});
    return rp_persistent_made({twin}.{member}({args}), {last});
""",
    "start": """\
    if (!RP_NO_PERSISTENTS)
        rp_persistent_started({counted});
    return {twin}.{member}({args});
""",
    "graph": "    return rp_{lower}(&{twin}, {args});\n",
    "status": "    return rp_{lower}(&{twin}, {args});\n",
    "file": "    return rp_file_{lower}(RP_FILE_CALL(\"{name}\", &{twin}), {args});\n",
    "shared": PLACED.format(take="rp_file_take"),
    "ordered": PLACED.format(take="rp_file_take_ordered"),
    "finish": """\
    return rp_file_is_ours({file}) ? {twin}.{at_place}({args}) : {twin}.{member}({args});
""",
}
INT, POINTER, REQUEST = ("int ", ""), ("void *", ""), ("MPI_Request *", "")
BUFFER = [POINTER, INT, ("MPI_Datatype ", "")]
SENT = [("const void *", "")] + BUFFER[1:]
PEERS = [INT, INT, ("MPI_Comm ", ""), REQUEST]
REQUESTS, OUT, STATUS = ("const MPI_Request *", ""), ("int *", ""), ("MPI_Status *", "")
# Programs of a later MPI run under libraries that an mpi.h without these has made.
LATER = {
    "MPI_Isendrecv": SENT + [INT, INT] + BUFFER + PEERS,
    "MPI_Isendrecv_replace": BUFFER + [INT, INT] + PEERS,
    "MPI_Request_get_status_any": [INT, REQUESTS, OUT, OUT, STATUS],
    "MPI_Request_get_status_all": [INT, REQUESTS, OUT, STATUS],
    "MPI_Request_get_status_some": [INT, REQUESTS, OUT, OUT, STATUS],
}


def at_place(member):
    """File_read_ordered_begin: File_read_at_all_begin."""
    return re.sub("_shared", "_at", re.sub("_ordered", "_at_all", member))


class Compound(generate.Library):
    def complete(self, header):
        for name, types in LATER.items():
            header.setdefault(name, Function(name, "int", types))

    def keys(self, entry, prefix):
        """{counted}: the number of the call's requests, and these; {more}: all arguments but the first."""
        is_one = entry.member in ("Wait", "Test", "Start")
        counted = ", ".join(["1", *entry.names[:1]] if is_one else entry.names[:2])
        keys = super().keys(entry, prefix)
        return dict(keys, counted=counted, parameters=entry.parameters, names=entry.names,
                    more=", ".join(entry.names[1:]), at_place=at_place(entry.member),
                    lower=re.sub("^file_|^request_get_", "", keys["lower"]))

    def wrapper(self, entry, prefix):
        before = COMPLETE.format(**self.keys(entry, prefix)) if entry.cell == "complete" else ""
        return before + super().wrapper(entry, prefix)


if __name__ == "__main__":
    Compound("compound", "compound/compound.h", TEMPLATES).make()
