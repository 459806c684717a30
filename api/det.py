#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-det.so. Usage and output: generate.py.

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
# The call itself is a function of its own, so that whatever way it takes, it is known when it is over.
CALL = PASS + """\
    rp_det.depth++;
    int result = event_{own}({args});
    rp_det.depth--;
    return result;
"""
INSIDE = """\
    rp_det.inside++;
    int rc = {twin}.{member}({args});
    rp_det.inside--;
"""
# Nobody leaves these before all have come, if they move data.
SYNCHRONISES = {"MPI_Barrier": "1", "MPI_Allreduce": "a2 > 0", "MPI_Allgather": "a1 > 0", "MPI_Alltoall": "a1 > 0"}
FIXED = ("MPI_Allreduce", "MPI_Reduce", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan")


def collective(end):
    return ("    struct rp_shared_collective *collective = rp_det_collective_enter({manner}, {comm}, {what});\n"
            "    int rc = {fixed}{twin}.{member}({args});\n"
            "    rp_det_collective_leave(collective);\n" + end + "    return rc;\n")


def apart(before, made):
    """Communicators that not all of the parent make: their ranks wait for each other beforehand."""
    return (f"    {before}\n    int rc = {{twin}}.{{member}}({{args}});\n"
            f"    if (rc == MPI_SUCCESS)\n        {made}\n    return rc;\n")


BEGIN = "    struct rp_shared_collective *collective = rp_det_collective_begin({comm}, {what});\n"
CALLS = {
    "own": "    return rp_det_{lower}({args});\n",
    "spawn": "    return rp_det_{lower}({what}, {args});\n",
    "complete": "    struct rp_completion call = {completion};\n    return rp_det_complete_call(&call);\n",
    "send": "    return rp_det_send({mode}, {args});\n",
    "isend": "    return rp_det_isend({mode}, {args});\n",
    "send_init": "    return rp_det_send_init({twin}.{member}({args}), {mode}, {args});\n",
    "recv_init": "    return rp_det_recv_init({twin}.{member}({args}), {args});\n",
    "matched": "    rp_det_matched(message);\n    return {twin}.{member}({args});\n",
    "imatched": "    rp_det_matched(message);\n    return rp_det_new_handle({twin}.{member}({args}), {last});\n",
    "foreign": "    return rp_det_foreign({twin}.{member}({args}), {last});\n",
    "disconnect": "    return rp_det_Comm_disconnect({twin}.{member}, {args}, {number});\n",
    "comm_free": "    return rp_det_Comm_free({twin}.{member}, {args}, {number});\n",
    "collective": collective(""),
    "made": collective("    if (rc == MPI_SUCCESS)\n        rp_det_comm_made({comm}, *{last});\n"),
    "made_group": apart("rp_det_collective_group({comm}, a1, a2, {what});",
                        "rp_det_comm_made_by_some((uint64_t)a2, *{last});"),
    "made_inter": apart("rp_det_collective_leaders(a0, a1, a2, a3, a4, {what});",
                        "rp_det_comm_made_between((uint64_t)a4 + 77, *{last});"),
    "made_set": apart("rp_det_collective_set(a0, rp_det_hash(a1, strlen(a1)), {what});",
                      "rp_det_comm_made_by_some(rp_det_hash(a1, strlen(a1)), *{last});"),
    "made_sets": apart("rp_det_collective_sets(a0, a1, a2, a3, rp_det_hash(a4, strlen(a4)), {what});",
                       "rp_det_comm_made_between(rp_det_hash(a4, strlen(a4)), *{last});"),
    "begin": BEGIN + "    return rp_det_collective_begun({twin}.{member}({args}), collective, {last});\n",
    "idup": BEGIN
    + "    return rp_det_collective_begun_comm({twin}.{member}({args}), collective, {comm}, {before_last}, {last});\n",
    "init": "    uint64_t number = rp_det_collective_compare({comm}, {what});\n"
            "    return rp_det_collective_init({twin}.{member}({args}), {comm}, number, {last});\n",
    "file_open": "    rp_det_collective_leave(rp_det_collective_enter(RP_DET_MAY_NOT, {comm}, {what}));\n" + INSIDE
                 + "    if (rc == MPI_SUCCESS)\n        rp_det_file_opened({comm}, *{last});\n    return rc;\n",
    "file_all": "    rp_det_collective_file({file}, {what});\n" + INSIDE + "    return rc;\n",
    "file_later": "    rp_det.guards = 1;\n" + INSIDE + "    return rp_det_new_handle(rc, {last});\n",
    "file_close": "    rp_det_collective_file(*{file}, {what});\n    rp_det_file_closed(*{file});\n"
                  + INSIDE + "    return rc;\n",
}
OTHERS = {
    "refuse": PASS + "    rp_det_refuse(\"{name}\");\n",
    "life": "    return rp_det_{member}(&{twin}{comma}{args});\n",
    "guard": INSIDE + "    return rc;\n",
    "handle": "    int rc = {twin}.{member}({args});\n"
              "    return RP_DET_PASSES ? rc : rp_det_new_handle(rc, {last});\n",
}


def number_of(entry):
    """The same for large counts."""
    return f"0x{zlib.crc32(entry.plain_name.encode()):08x}u"


def what_of(entry):
    """The call as a struct rp_det_operation."""
    kinds = [before.strip() for before, _ in entry.function.types]
    has_root = re.fullmatch(r"MPI_I?(bcast|gatherv?|scatterv?|reduce)(_init)?", entry.plain_name, re.IGNORECASE)
    root = f"a{kinds.index('MPI_Comm') - 1}" if has_root else "RP_DET_NO_ROOT"
    op = f"rp_det_op(a{kinds.index('MPI_Op')})" if "MPI_Op" in kinds else "0"
    return f"(struct rp_det_operation){{{number_of(entry)}, {root}, {op}}}"


def mode_of(entry):
    modes = {"Bs": "RP_DET_BUFFERED", "Ss": "RP_DET_SYNCHRONOUS"}
    return modes.get(re.sub("^I", "", entry.member)[:2].capitalize(), "RP_DET_STANDARD")


class Det(generate.Library):
    refuses_unknown = True

    def keys(self, entry, prefix):
        name = entry.name if entry.name == "MPI_Reduce_scatter_c" else entry.plain_name  # its counts are an array
        synchronises = entry.cell == "collective" and SYNCHRONISES.get(name)
        is_fixed = entry.cell == "collective" and name in FIXED
        fixed = f"rp_det_is_fixed({entry.first_of('MPI_Comm')}) ? rp_det_fixed_{name[4:]}({entry.args}) : " if is_fixed else ""
        manner = f"{synchronises} ? RP_DET_SYNCHRONISES : RP_DET_MAY_NOT" if synchronises else "RP_DET_MAY_NOT"
        return dict(super().keys(entry, prefix), what=what_of(entry), number=number_of(entry), mode=mode_of(entry),
                    manner=manner, fixed=fixed)

    def wrapper(self, entry, prefix):
        if entry.cell in OTHERS:
            return super().wrapper(entry, prefix)
        body = CALLS[entry.cell].format(**self.keys(entry, prefix))
        return (f"static __attribute__((noinline)) {entry.result} event_{prefix}{entry.name}({entry.parameters})\n"
                f"{{\n{body}}}\n\n" + super().wrapper(entry, prefix))


if __name__ == "__main__":
    Det("det", "det/det.h", {**OTHERS, **dict.fromkeys(CALLS, CALL)}).make()
