#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise-partial.so from functions.table, partial.table and mpi.h.

usage: partial.py FUNCTIONS_TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY PARTIAL_TABLE

Writes next.h, hand.h (the functions' numbers, and the prototypes of those that are written by hand)
and entries.c: of each function that is not local, how it is recorded, how it is answered in a partial
replay, and the entries MPI_X and PMPI_X.
"""
import re
import sys

import generate
from header import read_header
from table import Table, fail


class Call(generate.Entry):
    """A function with its line of partial.table."""

    def __init__(self, function, kind, parameters, notes):
        self.kind, self.notes, self.marks = kind, notes, []
        names = []
        for parameter in parameters or []:
            match = re.fullmatch(r"(\w+)(#|>(.*))?", parameter.strip())
            if not match:
                fail(f"partial.table: {function.name}: '{parameter}' is no parameter")
            names.append(match[1])
            self.marks.append(match[2] or "")
        super().__init__(function, kind, names)
        self.marks = self.marks or [""] * len(self.names)

    def number(self, name):
        """Places in dynamic windows are addresses, which are others in every run."""
        return "rp_window_place(win, disp)" if name == "disp" and "win" in self.names else f"(int64_t){name}"

    @property
    def check(self):
        value = "0"
        for name, mark in zip(self.names, self.marks):
            if mark == "#":
                value = f"rp_check({value}, {self.number(name)})"
        return f"{'true' if value != '0' else 'false'}, {value}"

    @property
    def error(self):
        file, comm = self.first_of("MPI_File"), self.first_of("MPI_Comm")
        if self.first_of("MPI_Win"):
            return f"    if (rp_partial_feed_failed(rc))\n        rp_partial_feed_error_win({self.first_of('MPI_Win')}, rc);\n"
        if file:
            return f"    if (rp_partial_feed_failed(rc))\n        rp_partial_feed_error_file({file}, rc);\n"
        if self.name.startswith("MPI_File_"):
            return f"    rp_partial_feed_error_no_file({comm or 'rp_constant.world'});\n"
        return f"    if (rp_partial_feed_failed(rc))\n        rp_partial_feed_error_comm({comm or 'rp_constant.world'}, rc);\n"

    @property
    def raiser(self):
        """Whose error handler is called if its request fails."""
        for kind in ("comm", "win", "file"):
            if kind in self.names:
                return f"(struct rp_raiser){{.kind = RP_OF_{kind.upper()}, .{kind} = {kind}}}"
        return "(struct rp_raiser){.kind = RP_OF_WORLD}"

    def outputs(self, side):
        """What the call gives, in order: written, or given again."""
        text = ""
        for name, mark in zip(self.names, self.marks):
            if mark == ">":
                text += f"        rp_partial_{side}_bytes({name}, sizeof *{name});\n"
            elif mark == ">status":
                text += f"        rp_partial_{side}_bytes(seen, sizeof *seen);\n"
            elif mark.startswith(">") and side == "record":
                text += f"        rp_partial_record_array({name}, (size_t)({mark[1:]}) * sizeof *{name});\n"
            elif mark.startswith(">"):
                text += f"        rp_partial_feed_array({name});\n"
        return text and f"    if (rc == MPI_SUCCESS) {{\n{text}    }}\n"

    @property
    def own_status(self):
        """A status of ours where the program wants none: who stands in front of us may want it."""
        if ">status" not in self.marks:
            return ""
        name = self.names[self.marks.index(">status")]
        return f"    MPI_Status own, *seen = {name} == MPI_STATUS_IGNORE ? &own : {name};\n"

    def real(self, through="next->"):
        if through != "next->":
            return f"    rp_data_off++;\n    rc = {through}{self.member}({self.args});\n    rp_data_off--;\n"
        return f"    bool is_open = rp_real_begin();\n    int rc = next->{self.member}({self.args});\n    rp_real_end(is_open);\n"


# Messages and collective calls, for the sake of windows: the unified model.
PART = "    rp_windows_part();\n"
MEET = "    rp_windows_meet();\n"


# What a call that begins an operation stores at once is seen by comparing.
LOOK = "    rp_early_before(&areas);\n"


def feed_part(call):
    return f"    rp_partial_feed_part(&rp_f_{call.member});\n"


def record(call, before, after, middle=None):
    return (f"static int record_{call.member}(const struct rp_next *next, {call.parameters})\n{{\n{before}{middle or call.real()}"
            f"    rp_partial_record_begin(&rp_f_{call.member}, {call.check}, rc);\n{after}    rp_partial_record_end();\n    return rc;\n}}\n\n")


def answered(call, before, after, error=None, first=""):
    return (f"static int feed_{call.member}({call.parameters})\n{{\n{first}    int rc = rp_partial_feed_begin(&rp_f_{call.member}, {call.check});\n{before}{after}    rp_partial_feed_end();\n"
            f"{error if error is not None else call.error}    return rc;\n}}\n\n")


def feed(call):
    middle, first = call.real(), ""
    if call.name in ("MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"):
        middle, first = PART + middle, feed_part(call)
    if call.own_status:
        middle = middle.replace(", status)", ", seen)")
    return record(call, call.own_status, call.outputs("record"), middle) + answered(call, call.own_status, call.outputs("feed"), first=first)


def both(call):
    again = call.real("rp_pmpi.").replace("    rc = ", "    ")
    return record(call, "", call.outputs("record")) + answered(call, again, call.outputs("feed"))


def comm(call):
    # Attribute functions of the program run inside a dup, and may make calls: these are its own.
    new, parent, dup = call.names[-1], call.first_of("MPI_Comm") or "rp_constant.self", "dup" in call.notes
    middle = f"    bool is_open = rp_partial_open();\n    int rc = next->{call.member}({call.args});\n    rp_partial_shut(is_open);\n" if dup else None
    made = f"    if (rc == MPI_SUCCESS)\n        rp_partial_record_comm(*{new});\n"
    text = record(call, "", made, middle)
    if not dup:
        return text + answered(call, "", f"    if (rc == MPI_SUCCESS)\n        rp_partial_feed_comm({parent}, {new});\n")
    return text + (f"static int feed_{call.member}({call.parameters})\n{{\n    int made = rp_pmpi.Comm_dup({parent}, {new});\n    int rc = rp_partial_feed_begin(&rp_f_{call.member}, {call.check});\n"
                   f"    if (rc == MPI_SUCCESS)\n        rp_partial_feed_dup(*{new});\n    rp_partial_feed_end();\n    (void)made;\n{unused(call)}{call.error}    return rc;\n}}\n\n")


def unused(call):
    return "".join(f"    (void){name};\n" for name in call.names if name not in ("comm", call.names[-1]))


def group(call):
    new = call.names[-1]
    return (record(call, "", f"    if (rc == MPI_SUCCESS)\n        rp_partial_record_group(*{new});\n")
            + answered(call, "", f"    if (rc == MPI_SUCCESS)\n        rp_partial_feed_group({new});\n"))


def info(call):
    new = call.names[-1]
    return (record(call, "", f"    if (rc == MPI_SUCCESS)\n        rp_partial_record_info(*{new});\n")
            + answered(call, "", f"    if (rc == MPI_SUCCESS)\n        rp_partial_feed_info({new});\n"))


MADE = "    if (rp_partial_feed_made(rc)) {\n"


def isend(call):
    request = call.names[-1]
    made = MADE + f"        struct rp_areas areas = {{0}};\n        *{request} = rp_partial_feed_request(&areas, %s, {call.raiser});\n    }}\n"
    sends = "comm" in call.names
    return record(call, "", "", PART + call.real() if sends else None) + answered(call, "", made % "false", first=feed_part(call) if sends else "")


def send_init(call):
    return isend(call).replace("areas, false", "areas, true")


def areas_of(call):
    buf, count, datatype = re.fullmatch(r"\((\w+), (\w+), (\w+)\)", call.notes).groups()
    some = "source != MPI_PROC_NULL" if "source" in call.names else "*message != rp_constant.message_no_proc" if "message" in call.names else "1"
    if "partitions" in call.names:
        return f"    struct rp_areas areas;\n    rp_areas_parts(&areas, {some}, {buf}, partitions, (int64_t){count}, {datatype});\n"
    return f"    struct rp_areas areas;\n    rp_areas_one(&areas, {some}, {buf}, (int64_t){count}, {datatype});\n    areas.sized = true;\n"


def receive(call):
    seen = call.names[-1]
    own = f"    MPI_Status own, *seen = {seen} == MPI_STATUS_IGNORE ? &own : {seen};\n"
    middle = PART + call.real().replace(f", {seen})", ", seen)") + MEET
    given = "    rp_partial_%s_bytes(seen, sizeof *seen);\n"
    return (record(call, areas_of(call) + own, given % "record" + "    rp_areas_put(&areas, rc == MPI_SUCCESS ? rp_data_received(seen) : -1);\n", middle)
            + answered(call, areas_of(call) + own, given % "feed" + "    rp_areas_fill(&areas);\n", first=feed_part(call)))


def mreceive(call):
    text = receive(call)
    return text.replace("    rp_areas_fill(&areas);\n", "    rp_areas_fill(&areas);\n    rp_partial_feed_take_message(message);\n")


def ireceive(call, persistent="false"):
    request = call.names[-1]
    keep = f"    if (rc == MPI_SUCCESS && areas.count > 0)\n        rp_partial_requests_add(*{request}, &areas, {persistent});\n"
    give = f"    if (rp_partial_feed_made(rc))\n        *{request} = rp_partial_feed_request(&areas, {persistent}, {call.raiser});\n"
    return record(call, areas_of(call), keep, LOOK + call.real()) + answered(call, areas_of(call), give)


def receive_init(call):
    return ireceive(call, "true")


def imreceive(call):
    return ireceive(call).replace("    rp_partial_feed_end();\n", "    rp_partial_feed_take_message(message);\n    rp_partial_feed_end();\n")


def access(call):
    """Before an access of a window: where, and whether it writes."""
    count, datatype = ("targetcount", "targettype") if "targetcount" in call.names else ("1", "datatype")
    reads = "true" if re.fullmatch("MPI_R?[gG]et(_c)?", call.name) else "op == rp_partial.handle.no_op" if "op" in call.names else "false"
    return f"    rp_window_access(win, target, disp, (int64_t){count}, {datatype}, !({reads}));\n"


def target_of(call):
    return "(int64_t)targetcount, targettype" if "targetcount" in call.names else "1, datatype"


def origin_of(call):
    return f"origin, (int64_t){'count' if 'count' in call.names else '1'}, datatype, {'op' if 'op' in call.names else 'rp_partial.handle.replace'}"


def told_write(call):
    """Alone, if accesses are told of."""
    return f"    if (rp_partial.is_traced)\n        rp_access_trace_write(&rp_f_{call.member}, win, target, disp, {target_of(call)}, {origin_of(call)});\n"


def told_read(call):
    more = f"        rp_access_trace_operand(areas.read, {origin_of(call)});\n" if "op" in call.names else "        rp_access_trace_swap(areas.read, origin, compare);\n" if "compare" in call.names else ""
    return f"    if (rp_partial.is_traced) {{\n        areas.read = rp_access_trace_read(&rp_f_{call.member}, win, target, disp, {target_of(call)});\n{more}    }}\n"


def rupdate(call):
    text = isend(call).replace("    bool is_open", access(call) + "    bool is_open", 1)
    before, made, after = text.partition(MADE)
    assert made, call.name
    return before + told_write(call) + made + after


def update(call, areas="", keep="", told=None):
    numbers = "rp_windows.updates"
    for name, mark in zip(call.names, call.marks):
        if mark == "#":
            numbers = f"rp_check({numbers}, {call.number(name)})"
    check = call.check.split(", ", 1)[1]
    note = f"    rp_windows.updates = {numbers};\n{keep}"
    return (f"static int record_{call.member}(const struct rp_next *next, {call.parameters})\n{{\n{areas}{access(call)}{LOOK if areas else ''}{call.real()}    rp_partial_record_update(&rp_f_{call.member}, {check}, rc);\n    if (rc != MPI_SUCCESS)\n        return rc;\n{note}    return rc;\n}}\n\n"
            f"static int feed_{call.member}({call.parameters})\n{{\n{areas}    int rc = rp_partial_feed_update(&rp_f_{call.member}, {check});\n    if (rp_partial_feed_failed(rc))\n        rp_partial_feed_error_win(win, rc);\n    if (rc != MPI_SUCCESS)\n        return rc;\n{told or told_write(call)}{note}    return MPI_SUCCESS;\n}}\n\n")


def read_areas(call):
    return areas_of(call).replace("areas.sized = true", f"areas.begun_by = &rp_f_{call.member}").replace("areas, 1,", "areas, target != MPI_PROC_NULL,")


def get(call):
    return update(call, read_areas(call), "    rp_reads_add(win, target, &areas);\n", told_read(call))


# Calls that complete all reads of a window complete these, too, before their requests are waited for.
READ = "    if (rc == MPI_SUCCESS)\n        rp_partial_requests_read(*request, win, target);\n"


def iget(call):
    areas = read_areas(call)
    return (record(call, areas, "    if (rc == MPI_SUCCESS)\n        rp_partial_record_fresh(*request, &areas);\n" + READ, access(call) + LOOK + call.real())
            + answered(call, areas + told_read(call), "    if (rc == MPI_SUCCESS)\n        rp_partial_feed_fresh(request, &areas, " + call.raiser + ");\n" + READ))


def sync(call):
    words = call.notes.split()
    when = "if (rp_window_is_self(win, rank))\n        " if "self" in words else "if (*flag)\n        " if "flag" in words else ""
    before = f"    {when}rp_windows_out(win);\n" if "out" in words else ""
    after = f"    {when}rp_windows_in(win);\n" if "in" in words else ""
    if "own" in words:
        after += f"    {when}rp_windows_in_own(win);\n"
    target = "rank" if "target" in words else "-1"
    if "local" in call.name:
        after += f"    rp_reads_await(win, {target});\n"
    if "all" in words or "target" in words:
        after += f"    rp_reads_done(win, {target});\n"
    took = "    rp_windows.updates = 0;\n"
    own = " && rp_window_is_self(win, rank)" if "self" in words else ""
    looks = ("out" in words or "in" in words) and "flag" not in words
    first = f"    if (rp_partial.is_traced{own})\n        rp_windows_look(&rp_f_{call.member}, win, {'true' if 'out' in words else 'false'});\n" if looks else ""
    done = "" if "local" in call.name or not ("all" in words or "target" in words) else f"    if (rp_partial.is_traced)\n        rp_access_trace_done(&rp_f_{call.member}, win, {'rank' if 'target' in words else '-1'});\n"
    text = record(call, before, took + "    rp_marks_put_noted();\n" + call.outputs("record"), call.real() + after) + answered(call, took, call.outputs("feed") + done, first=first)
    plain = call.check
    return text.replace(f"{plain}", f"true, rp_check(rp_windows_updates(), {plain.split(', ', 1)[1]})") if plain else text


def window(call):
    """It makes a window; `make` is MPI's function, whose unit of displacement is wider if it is one of large counts."""
    unit = call.function.types[call.names.index("disp_unit")][0].strip()
    given = ", ".join({"base": "base", "win": "win", "disp_unit": f"({unit})m->unit"}.get(name, f"m->{name}") for name in call.names)
    making = f"    struct rp_making m = {{&rp_f_{call.member}, make_{call.member}, size, disp_unit, info, comm}};\n"
    return (f"static int make_{call.member}(const struct rp_next *next, const struct rp_making *m, void *base, MPI_Win *win)\n{{\n    return next->{call.member}({given});\n}}\n\n"
            f"static int record_{call.member}(const struct rp_next *next, {call.parameters})\n{{\n{making}    return rp_partial_record_{call.plain_member}(next, &m, base, win);\n}}\n\n"
            f"static int feed_{call.member}({call.parameters})\n{{\n{making}    return rp_partial_feed_{call.plain_member}(&m, base, win);\n}}\n\n")


def query(call):
    """Its answer is always the same, so it needs no entry."""
    unit = call.function.types[call.names.index("disp_unit")][0].replace("*", "").strip()
    return (f"static int record_{call.member}(const struct rp_next *next, {call.parameters})\n{{\n    int rc = next->{call.member}({call.args});\n"
            f"    if (rc == MPI_SUCCESS)\n        rp_window_shift(win, base);\n    return rc;\n}}\n\n"
            f"static int feed_{call.member}({call.parameters})\n{{\n    struct rp_member m;\n    if (!rp_window_member(win, rank, &m))\n        return rp_pmpi.{call.member}({call.args});\n"
            f"    *size = m.size;\n    *disp_unit = ({unit})m.unit;\n    *(void **)base = m.base;\n    return MPI_SUCCESS;\n}}\n\n")


def begin(call):
    areas = areas_of(call)
    return record(call, areas, "    rp_split_begin(file, &areas);\n") + answered(call, areas, "    rp_split_begin(file, &areas);\n")


def end(call):
    own = "    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;\n"
    given = "    rp_partial_%s_bytes(seen, sizeof *seen);\n"
    middle = call.real().replace(", status)", ", seen)")
    return (record(call, own, given % "record" + "    rp_split_put(file, rc == MPI_SUCCESS ? rp_data_received(seen) : -1);\n", middle)
            + answered(call, own, given % "feed" + "    rp_split_fill(file);\n    (void)buf;\n"))


WHO = {"none": "0", "always": "1", "all": "rp_members_all(comm)", "root": "rp_members_root(comm, root)", "at_root": "rp_members_at_root(comm, root)",
       "leaf": "rp_members_leaf(comm, root)", "scatter": "rp_members_scatter(comm, root, recvbuf)", "mine": "rp_members_mine(comm)", "near": "rp_members_near(comm)"}


def where(call, members):
    shape, inner = re.fullmatch(r"\w+ (\w+)\((.*)\)", call.notes).groups()
    if shape == "none":
        return f"    struct rp_areas areas = {{0}};\n    (void){members};\n"
    words = [word.strip() for word in inner.split(",")]
    if shape in ("one", "times"):
        words[1] = f"(int64_t){words[1]}"
    elif shape in ("v", "w"):
        words += [f"sizeof *{words[1]}", f"sizeof *{words[2]}"]
    else:
        words += [f"sizeof *{words[1]}"]
    return f"    struct rp_areas areas;\n    rp_areas_{shape}(&areas, {members}, {', '.join(words)});\n"


def collective(call, form=""):
    who = WHO[call.notes.split()[0]]
    before = f"    uint64_t members = {who};\n" + where(call, "members")
    put, fill = "    rp_partial_record_number(members);\n", "    uint64_t members = rp_partial_feed_number();\n" + where(call, "members")
    request = call.names[-1]
    if form == "":
        put += "    if (rc == MPI_SUCCESS)\n        rp_areas_put(&areas, -1);\n    rp_areas_free(&areas);\n"
        fill += "    if (rc == MPI_SUCCESS)\n        rp_areas_fill(&areas);\n    rp_areas_free(&areas);\n"
    elif form == "i":
        put += f"    if (rc == MPI_SUCCESS)\n        rp_partial_record_fresh(*{request}, &areas);\n"
        fill += f"    if (rp_partial_feed_made(rc))\n        rp_partial_feed_fresh({request}, &areas, {call.raiser});\n"
    else:
        put += f"    if (rc == MPI_SUCCESS && areas.count > 0)\n        rp_partial_requests_add(*{request}, &areas, true);\n"
        fill += f"    if (rp_partial_feed_made(rc))\n        *{request} = rp_partial_feed_request(&areas, true, {call.raiser});\n"
    middle = call.real()
    if form == "":
        middle = PART + middle + MEET
    elif form == "i":
        middle = PART + LOOK + middle
    return record(call, before, put, middle) + answered(call, fill, "", first=feed_part(call) if form != "init" else "")


def icollective(call):
    return collective(call, "i")


def pcollective(call):
    return collective(call, "init")


def refuse(call):
    """The entry does it."""
    return ""


def complete(call):
    """MPI_Wait, MPI_Test and their families."""
    initializer = f"&(struct rp_completion){call.completion}"
    return (f"static int record_{call.member}(const struct rp_next *next, {call.parameters})\n{{\n"
            f"    return rp_partial_record_complete(next, &rp_f_{call.member}, {initializer});\n}}\n\n"
            f"static int feed_{call.member}({call.parameters})\n{{\n"
            f"    return rp_partial_feed_complete(&rp_f_{call.member}, {initializer});\n}}\n\n")


def own(call):
    return ""


def clock(call):
    return ""


def life(call):
    return ""


KINDS = {f.__name__: f for f in (feed, both, comm, group, info, isend, send_init, receive, mreceive, ireceive, receive_init, imreceive, begin, end, collective, icollective, pcollective, refuse, complete, own, life, clock, rupdate, update, get, iget, sync, window, query)}


def read_notes(path, table):
    """The lines of partial.table by function: kind, parameters, notes."""
    lines = {}
    for number, line in enumerate(open(path), 1):
        if line.startswith("#") or not line.strip():
            continue
        match = re.fullmatch(r"(\S+) (\w+)\((.*?)\)(?: (.*))?", balanced(line.strip()))
        if not match or match[2] not in KINDS:
            fail(f"{path}:{number}: not 'NAME KIND(parameters) notes': {line.strip()}")
        if match[1] in lines:
            fail(f"{path}:{number}: {match[1]} has two lines")
        if match[1] not in table.rows:
            fail(f"{path}:{number}: {table.path} has no row for {match[1]}")
        parameters = split(match[3].replace("\1", "(").replace("\2", ")"))
        lines[match[1]] = match[2], [p for p in parameters if p], match[4] or ""
    return lines


def balanced(line):
    """Parentheses inside those of the parameters are hidden from the pattern."""
    depth, text = 0, ""
    for at, letter in enumerate(line):
        depth += letter == "("
        text += "\1" if letter == "(" and depth > 1 else "\2" if letter == ")" and depth > 1 else letter
        depth -= letter == ")"
    return text


def split(text):
    return [part.strip() for part in re.split(r",(?![^()]*\))", text)]


def line_of(name, kind, notes):
    """The line of partial.table for a function: that of the blocking collective if it is a form of one."""
    plain = re.sub(r"_c$", "", name)
    if kind == "icollective":
        plain, kind, more = "MPI_" + plain[5].upper() + plain[6:], "collective", ["request"]
    elif kind == "pcollective":
        plain, kind, more = re.sub("_init$", "", plain), "collective", ["info", "request"]
    else:
        more = []
    if plain not in notes:
        fail(f"partial.table has no line for {name}, which functions.table classes as {kind}")
    if notes[plain][0] != kind:
        fail(f"{name} is {kind} in functions.table, {notes[plain][0]} in partial.table")
    return notes[plain][1] + more, notes[plain][2]


def describe(function, row, notes):
    """The call that an entry stands for; None: the function is not intercepted."""
    kind = row.cells["partial"]
    if kind in ("-", "use"):
        return None
    if kind not in KINDS:
        fail(f"functions.table: {function.name}: partial has no kind '{kind}'")
    parameters, words = (row.arguments, "") if kind == "refuse" else line_of(function.name, kind, notes)
    call = Call(function, kind, parameters, words)
    if row.arguments and row.arguments != call.names:
        fail(f"{function.name} has other arguments in partial.table than in functions.table")
    return call


def entry(call, prefix):
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    side = "rp_partial_" if call.kind == "own" else ""
    return (f"RP_ENTRY int {prefix}{call.name}({call.parameters})\n{{\n    if (RP_PASSES)\n        return {twin}.{call.member}({call.args});\n"
            f"    bool is_locked = RP_ENTER();\n    if (rp_partial.is_feeding)\n        RP_HERE();\n    else\n        rp_track_settle();\n    rp_early_enter();\n"
            f"    int rc = rp_partial.is_feeding ? {side}feed_{call.member}({call.args}) : {side}record_{call.member}(&{twin}, {call.args});\n"
            f"    rp_early_leave();\n    rp_partial_leave(is_locked);\n    return rc;\n}}\n\n")


def special_entry(call, prefix):
    """Before anything is recorded or replayed."""
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    return f"RP_ENTRY int {prefix}{call.name}({call.parameters})\n{{\n    return rp_partial_life_{call.member}(&{twin}, {call.args});\n}}\n\n"


def refusing_entry(call, prefix):
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    return (f"RP_ENTRY {call.result} {prefix}{call.name}({call.parameters})\n{{\n    if (RP_PASSES)\n        return {twin}.{call.member}({call.args});\n"
            f"    if (rp_partial.is_feeding)\n        RP_HERE();\n    rp_data_refuse(\"{call.name}\");\n}}\n\n")


def clock_entry(call, prefix):
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    return (f"RP_ENTRY double {prefix}{call.name}(void)\n{{\n    if (RP_PASSES || rp_partial.times_captured)\n        return {twin}.{call.member}();\n"
            f"    bool is_locked = RP_ENTER();\n    double now = rp_data_{call.member}(&{twin});\n    rp_partial_leave(is_locked);\n    return now;\n}}\n\n")


def write_hand(calls, out):
    out.write("/* Made by api/partial.py. */\n#ifndef RP_HAND_H\n#define RP_HAND_H\n\n")
    for call in calls:
        out.write(f"extern RP_HIDDEN const struct rp_function rp_f_{call.member};\n")
    for call in calls:
        if call.kind == "life":
            out.write(f"int rp_partial_life_{call.member}(const struct rp_next *next, {call.parameters});\n")
        elif call.kind == "clock":
            out.write(f"double rp_data_{call.member}(const struct rp_next *next);\n")
        elif call.kind == "own":
            out.write(f"int rp_partial_record_{call.member}(const struct rp_next *next, {call.parameters});\nint rp_partial_feed_{call.member}({call.parameters});\n")
    out.write("\n#endif\n")


def write_entries(calls, functions, out):
    out.write("/* Made by api/partial.py. */\n#include \"partial/partial.h\"\n#include \"preload/lost_status.h\"\n\n#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n\n")
    generate.write_tables(calls, functions, out)
    for number, call in enumerate(calls):
        out.write(f"const struct rp_function rp_f_{call.member} = {{{number}, \"{call.name}\"}};\n\n")
        out.write(KINDS[call.kind](call))
        maker = {"life": special_entry, "clock": clock_entry, "refuse": refusing_entry}.get(call.kind, entry)
        out.write(maker(call, "") + maker(call, "P"))


def main():
    if len(sys.argv) != 5:
        fail("usage: partial.py FUNCTIONS_TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY PARTIAL_TABLE")
    table, header = Table(sys.argv[1]), read_header(sys.argv[2])
    notes = read_notes(sys.argv[4], table)
    functions = [f for _, f in sorted(header.items()) if not any("..." in before for before, _ in f.types)]
    calls = [call for call in (describe(f, table.row(f.name), notes) for f in functions) if call]
    known = [generate.Entry(f, "use", None) for f in functions]
    with open(sys.argv[3] + "/next.h", "w") as out:
        generate.write_next(known, header, out)
    with open(sys.argv[3] + "/hand.h", "w") as out:
        write_hand(calls, out)
    with open(sys.argv[3] + "/entries.c", "w") as out:
        write_entries(calls, known, out)


if __name__ == "__main__":
    main()
