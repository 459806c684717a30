#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-det.so, in the way of generate.py.

usage: det.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY FUNCTIONS_TABLE

An entry lets pass what is not the program's own; every other call takes its time and goes to src/det.
A collective call says what it is, for comparison with those of other ranks: a number made of its
name, its root and its operation.
"""
import re
import zlib

import generate

PASS = """\
    if (RP_DET_PASSES)
        return {twin}.{member}({args});
    rp_det_enter("{name}");
"""
PLAIN = ("recv irecv sendrecv sendrecv_replace probe iprobe mprobe improbe start startall wait_one waitall waitany waitsome test testall testany testsome cancel "
         "request_free request_get_status")
MODES = {"B": "RP_DET_BUFFERED", "S": "RP_DET_SYNCHRONOUS"}
# Communicators that not all of the parent make: they meet beforehand, too.
APART = {
    "made_group": ("rp_det_meet_group({comm}, a1, a2, @what@);", "rp_det_comm_made_apart((uint64_t)a2, *{last});"),
    "made_inter": ("rp_det_meet_leaders(a0, a1, a2, a3, a4, @what@);", "rp_det_comm_made_apart((uint64_t)a4 + 77, *{last});"),
}
# Calls on files that all who opened it make.
FILES = (r"MPI_File_(close|set_size|preallocate|set_view|seek_shared|sync|set_atomicity|set_info|(read|write)(_at)?_all(_begin|_end)?|(read|write)_ordered(_begin|_end)?)(_c)?")
# Nobody leaves these before all have come, if there is something to tell.
SYNCHRONISES = {"MPI_Barrier": "1", "MPI_Allreduce": "a2 > 0", "MPI_Allgather": "a1 > 0", "MPI_Alltoall": "a1 > 0"}
FIXED = ("MPI_Allreduce", "MPI_Reduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan")
KINDS = [
    (r"(allgatherv?|alltoall[vw]?|allreduce|barrier|bcast|gatherv?|reduce(_scatter(_block)?)?|scatterv?|(ex)?scan|neighbor_(allgatherv?|alltoall[vw]?))(_c)?", "meet"),
    (r"comm_(dup|dup_with_info|split|split_type|create)|cart_create|cart_sub|graph_create|dist_graph_create(_adjacent)?|intercomm_merge", "made"),
    (r"comm_create_group", "made_group"),
    (r"intercomm_create", "made_inter"),
    (r"i(allgatherv?|alltoall[vw]?|allreduce|barrier|reduce(_scatter(_block)?)?|bcast|scatterv?|gatherv?|(ex)?scan|neighbor_(allgatherv?|alltoall[vw]?))(_c)?", "begin"),
    (r"(allgatherv?|alltoall[vw]?|allreduce|barrier|reduce(_scatter(_block)?)?|bcast|scatterv?|gatherv?|(ex)?scan|neighbor_(allgatherv?|alltoall[vw]?))_init(_c)?", "init"),
    (r"comm_idup(_with_info)?", "idup"),
]


def mode_of(name):
    letter = re.sub(r"^MPI_I?", "", name)[:2].capitalize()
    return {"Bs": MODES["B"], "Ss": MODES["S"]}.get(letter, "RP_DET_STANDARD")


def meeting(manner, inner, fixed=""):
    return (f"    struct rp_shared_collective *meeting = rp_det_meet({manner}, {{comm}}, @what@);\n    int rc = {fixed}{{twin}}.{{member}}({{args}});\n"
            f"    rp_det_met(meeting);\n{inner}    return rc;\n")


def templates():
    bodies = {shape: f"    return rp_det_{shape}({{args}});\n" for shape in PLAIN.split()}
    for mode in ("RP_DET_STANDARD", "RP_DET_SYNCHRONOUS", "RP_DET_BUFFERED"):
        for shape in ("send", "isend"):
            bodies[f"{shape}_{mode}"] = f"    return rp_det_{shape}({mode}, {{args}});\n"
        bodies[f"send_init_{mode}"] = f"    return rp_det_send_init({{twin}}.{{member}}({{args}}), {mode}, {{args}});\n"
    bodies["recv_init"] = "    return rp_det_recv_init({twin}.{member}({args}), {args});\n"
    bodies["matched"] = "    rp_det_matched(message);\n    return {twin}.{member}({args});\n"
    bodies["imatched"] = "    rp_det_matched(message);\n    return rp_det_new_handle({twin}.{member}({args}), {last});\n"
    bodies["foreign"] = "    return rp_det_foreign({twin}.{member}({args}), {last});\n"
    bodies["comm_free"] = "    return rp_det_Comm_free({twin}.{member}, {args}, @function@);\n"
    bodies["refuse"] = "    rp_det_refuse(\"{name}\");\n"
    bodies["meet"] = meeting("RP_DET_MAY_NOT", "")
    for name in {*SYNCHRONISES, *FIXED}:
        manner = f"{SYNCHRONISES[name]} ? RP_DET_SYNCHRONISES : RP_DET_MAY_NOT" if name in SYNCHRONISES else "RP_DET_MAY_NOT"
        fixed = f"rp_det_is_fixed({{comm}}) ? rp_det_fixed_{name[4:]}({{args}}) : " if name in FIXED else ""
        bodies["meet_" + name] = meeting(manner, "", fixed)
    bodies["made"] = meeting("RP_DET_MAY_NOT", "    if (rc == MPI_SUCCESS)\n        rp_det_comm_made({comm}, *{last});\n")
    for shape, (before, made) in APART.items():
        bodies[shape] = f"    {before}\n    int rc = {{twin}}.{{member}}({{args}});\n    if (rc == MPI_SUCCESS)\n        {made}\n    return rc;\n"
    inside = "    rp_det.inside++;\n    int rc = {twin}.{member}({args});\n    rp_det.inside--;\n"
    bodies["file_open"] = ("    rp_det_met(rp_det_meet(RP_DET_MAY_NOT, {comm}, @what@));\n" + inside + "    if (rc == MPI_SUCCESS)\n        rp_det_file_opened({comm}, *{last});\n"
                           "    return rc;\n")
    bodies["file_meet"] = "    rp_det_meet_file({file}, @what@);\n" + inside + "    return rc;\n"
    bodies["file_later"] = "    rp_det.guards = 1;\n" + inside + "    return rp_det_new_handle(rc, {last});\n"
    bodies["file_close"] = "    rp_det_meet_file(*{file}, @what@);\n    rp_det_file_closed(*{file});\n" + inside + "    return rc;\n"
    bodies["begin"] = "    struct rp_shared_collective *meeting = rp_det_begin_meeting({comm}, @what@);\n    return rp_det_began({twin}.{member}({args}), meeting, {last});\n"
    bodies["init"] = "    uint64_t number = rp_det_pass_by({comm}, @what@);\n    return rp_det_init_meeting({twin}.{member}({args}), {comm}, number, {last});\n"
    bodies["idup"] = ("    struct rp_shared_collective *meeting = rp_det_begin_meeting({comm}, @what@);\n"
                      "    return rp_det_began_comm({twin}.{member}({args}), meeting, {comm}, {before_last}, {last});\n")
    # The call itself is a function of its own, so that whatever way it takes, it is known when it is over.
    made = {shape: (PASS + "    rp_det.depth++;\n    int result = event_{own}({args});\n    rp_det.depth--;\n    return result;\n", body, None, None)
            for shape, body in bodies.items()}
    made["refuse"] = (PASS + bodies["refuse"], None, None, None)
    made["life"] = ("    return rp_det_{member}(&{twin}{comma}{args});\n", None, None, None)
    guard = "    rp_det.inside++;\n    int rc = {twin}.{member}({args});\n    rp_det.inside--;\n    return rc;\n"
    made["guard"] = (guard, None, None, None)
    made["handle"] = ("    int rc = {twin}.{member}({args});\n    return RP_DET_PASSES ? rc : rp_det_new_handle(rc, {last});\n", None, None, None)
    return made


def what_of(function):
    """The number of the function, the same for large counts, and the call: struct rp_det_what."""
    plain = re.sub("_c$", "", function.name)
    number = f"0x{zlib.crc32(plain.encode()):08x}u"
    kinds = [before.strip() for before, after in function.types]
    rooted = r"MPI_I?(bcast|gatherv?|scatterv?|reduce)(_init)?"
    has_root = re.fullmatch(rooted, plain, re.IGNORECASE)
    root = f"a{kinds.index('MPI_Comm') - 1}" if has_root else "RP_DET_NO_ROOT"
    op = f"rp_det_op(a{kinds.index('MPI_Op')})" if "MPI_Op" in kinds else "0"
    return number, f"(struct rp_det_what){{{{{number}, {root}, {op}}}}}"


def say_what(function, entry):
    """A function that says what it is has a template of its own."""
    shape = entry["shape"] or entry["kind"]
    parts = ALL[shape]
    if not any(part and "@" in part for part in parts):
        return
    number, what = what_of(function)
    entry["shape"] = f"{shape} {function.name}"
    ALL[entry["shape"]] = tuple(
        part and part.replace("@what@", what).replace("@function@", number) for part in parts)


def add(header, table, functions_table):
    refused = {name for name, entry in generate.read_table(functions_table).items() if entry["kind"] == "refuse"}
    for name, function in header.items():
        if function.result != "int" or name in table:
            continue
        if name in refused:
            table[name] = dict(kind="refuse", used=False, shape=None, arguments=[])
        elif name == "MPI_File_open" or re.fullmatch(FILES, name):
            shape = {"MPI_File_open": "file_open", "MPI_File_close": "file_close"}.get(name, "file_meet")
            table[name] = dict(kind="order", used=False, shape=shape, arguments=[])
        elif name.startswith(("MPI_File_iread", "MPI_File_iwrite")):
            table[name] = dict(kind="order", used=False, shape="file_later", arguments=[])
        elif name.startswith("MPI_File_"):
            table[name] = dict(kind="guard", used=False, shape=None, arguments=[])
        for pattern, shape in KINDS:
            if re.fullmatch(f"MPI_({pattern})", name, re.IGNORECASE):
                plain = name if name == "MPI_Reduce_scatter_c" else re.sub("_c$", "", name)  # its counts are an array
                shape = "meet_" + plain if shape == "meet" and plain in {*SYNCHRONISES, *FIXED} else shape
                table[name] = dict(kind="order", used=True, shape=shape, arguments=[])
        last = "".join(function.types[-1]).replace(" ", "") if function.types else ""
        if name not in table and last == "MPI_Request*":
            table[name] = dict(kind="handle", used=False, shape=None, arguments=[])
    for name, entry in table.items():
        if entry["shape"] in ("send", "isend", "send_init"):
            entry["shape"] += "_" + mode_of(name)
        if name in header and entry["kind"] not in ("pass", "life"):
            say_what(header[name], entry)


ALL = templates()

if __name__ == "__main__":
    generate.make_library(ALL, add, "det/det.h", "FUNCTIONS_TABLE")
