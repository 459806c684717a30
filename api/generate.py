#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise.so from functions.table and the installed mpi.h.

usage: generate.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY

Writes next.h (the real functions, one table for MPI_ and one for PMPI_) and entries.c (a wrapper MPI_X and PMPI_X for each
intercepted function). A function of mpi.h that the table does not class is an error.
"""
import re
import sys

CLASSES = {"pass", "guard", "order", "create", "refuse", "life"}


class Function:
    def __init__(self, name, result, types):
        self.name = name
        self.result = result
        self.types = types  # of the parameters, as (before the name, after the name)

    @property
    def member(self):
        return re.sub(r"^MPI_", "", self.name)

    def parameters(self, names):
        if not self.types:
            return "void"
        return ", ".join(f"{before}{name}{after}" for (before, after), name in zip(self.types, names))


def fail(message):
    sys.exit(f"generate.py: error: {message}")


def read_table(path):
    table = {}
    for number, line in enumerate(open(path), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"(\w+) (\w+)( used)?(?: (\w+)\(([\w, ]*)\))?", line)
        if not match or match[2] not in CLASSES:
            fail(f"{path}:{number}: not 'NAME CLASS [used] [SHAPE(arguments)]': {line}")
        if match[1] in table:
            fail(f"{path}:{number}: {match[1]} is classed twice")
        arguments = [a.strip() for a in (match[5] or "").split(",") if a.strip()]
        table[match[1]] = dict(kind=match[2], used=bool(match[3]), shape=match[4], arguments=arguments)
    return table


def parse_parameter(text):
    text = " ".join(text.split())
    match = re.fullmatch(r"(.*?)(\b\w+)?((?:\[\d*\])*)", text)
    before, name, after = match[1], match[2], match[3]
    if name is None or before.strip() == "" or name in ("int", "void", "MPI_Comm", "char"):
        return (text + " ", "") if not after else (before + (name or "") + " ", after)
    return before, after


def read_header(path):
    """All MPI_ and MPIX_ prototypes of a preprocessed mpi.h."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", open(path).read())
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    functions = {}
    pattern = r"\b((?:int|double|MPI_\w+)\s*\*?)\s*\b(MPIX?_\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*;"
    for match in re.finditer(pattern, text):
        if match[1].strip() == "return":
            continue
        body = match[3].strip()
        parameters = [] if body in ("", "void") else re.split(r",(?![^()]*\))", body)
        functions[match[2]] = Function(match[2], match[1].strip(), [parse_parameter(p) for p in parameters])
    if len(functions) < 300:
        fail(f"only {len(functions)} functions found in {path}: is it a preprocessed mpi.h?")
    return functions


def arguments_of(function, entry):
    if entry["arguments"]:
        if len(entry["arguments"]) != len(function.types):
            fail(f"{function.name}: the table names {len(entry['arguments'])} arguments, mpi.h has {len(function.types)}")
        return entry["arguments"]
    return [f"a{i}" for i in range(len(function.types))]


def write_next(functions, table, out):
    out.write("/* Made by api/generate.py. */\n#ifndef RP_NEXT_H\n#define RP_NEXT_H\n\n#include <mpi.h>\n\n#include \"base/visibility.h\"\n\n")
    out.write("/* The real functions: those that a call would reach without us. */\nstruct rp_next {\n")
    for function in functions:
        names = arguments_of(function, table[function.name])
        out.write(f"    {function.result} (*{function.member})({function.parameters(names)});\n")
    out.write("};\n\nextern RP_HIDDEN struct rp_next rp_mpi;  /* the MPI_ names */\n")
    out.write("extern RP_HIDDEN struct rp_next rp_pmpi; /* the PMPI_ names */\n\n")
    out.write("/* Looks the names up; what is not found keeps its present value. */\nvoid rp_next_resolve(void);\n\n#endif\n")


# What an entry point does, in up to three functions, so that each needs no more of a stack frame than it must: the entry itself, which lets pass what
# needs no engine; `event`, the usual call that makes an event; and `other`, everything else. One ends in a jump to the next (and not in several: gcc gets that
# wrong), so that their return address is the program's. A shape is the entry, the event, the choice between event and other, and the other.

# Blocking receives. What an engine that wants every call does differs: MPI_Recv it makes itself.
RECEIVE = ("""\
    if (RP_IS_IDLE && !RP_IS_WILD(source, tag) && !RP_MAY_OVERLAP(tag))
        return {twin}.{member}({args});
""", """\
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc;
    RP_ALONE(rc, {twin}.{member}({seen}));
    rp_engine->received("{name}", RP_PLACE, comm, seen, rc);
    return rc;
""", """\
    if (RP_IS_IDLE && RP_IS_WILD(source, tag))
        {event}
""")
RECEIVE_OTHER = """\
    int rc;
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    {call};
    if (rp_threads_on)
        {threaded}
    if (!RP_WANTS_ALL) {{
        MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
        RP_INSIDE(rc, {twin}.{member}({seen}));
        rp_engine->received_other(&call, source, tag, comm, seen, rc);
        return rc;
    }}
"""

# What an engine does itself.
CALL = """\
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    {call};
    if (RP_LIKELY(!rp_threads_on))
        return rp_engine->{operation};
    int rc;
    RP_LOCKED(rc, rp_engine->{operation});
    return rc;
"""

# A replay sees sends, too, to wake who waits for them.
SENT_ALONE = """\
    if (!rp_threads_on) {{
        int rc;
        RP_INSIDE(rc, {twin}.{member}({args}));
        rp_engine->sent(dest, comm);
        return rc;
    }}
"""

TURN = """\
    {call};
    rp_turn_begin(&call, false);
    int rc = {twin}.{member}({args});
    rp_turn_end(false);
    return rc;
"""

TEMPLATES = {
    "receive": RECEIVE + (RECEIVE_OTHER + """\
    struct rp_envelope e;
    RP_ENVELOPE(e, source, tag, comm, status, {sends});
    RP_ENVELOPE_BUFFER(e, {into});
    rp_engine->receive_begin(&call, &e);
    rc = {twin}.{member}({changed});
    rp_engine->receive_end(&call, &e, rc);
    return rc;
""",),
    "recv": RECEIVE + (RECEIVE_OTHER + """\
    struct rp_envelope e;
    RP_ENVELOPE(e, source, tag, comm, status, {sends});
    struct rp_buffer_args b = {{buf, count, datatype}};
    return rp_engine->receive(&call, &e, &b);
""",),
    "post": ("""\
    if (RP_IS_IDLE) {{
        if (RP_IS_WILD(source, tag))
            {event}
        if (!rp_state.notes_named && !RP_MAY_OVERLAP(tag)) {{
            rp_state.posts++;
            return {twin}.{member}({args});
        }}
    }}
""", """\
    int rc = {twin}.{member}({args});
    uint64_t post = rp_state.posts++;
    return rc == MPI_SUCCESS ? rp_requests_note_wild(*request, post, source, tag) : rc;
""", None, """\
    int rc;
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    {call};
    rp_turn_begin(&call, true);
    if (!RP_WANTS_ALL) {{
        uint64_t post = rp_state.posts++;
        RP_INSIDE(rc, {twin}.{member}({args}));
        if (rc == MPI_SUCCESS)
            rp_requests_note(*request, post, source, tag);
    }} else {{
        struct rp_envelope e;
        RP_ENVELOPE(e, source, tag, comm, NULL, {sends});
        struct rp_buffer_args b = {{buf, count, datatype}};
        rp_engine->post_begin(&call, &e, &b);
        rc = {twin}.{member}({changed});
        rp_engine->post_end(&call, &e, rc, request);
    }}
    rp_turn_end(true);
    return rc;
"""),
    "matched": ("""\
    if (RP_LIKELY(!(rp_thread_state.always & RP_SLOW_CLOCKS)) || rp_thread_state.depth != 0)
        return {twin}.{member}({args});
""", None, None, """\
    int rc;
    {call};
    RP_INSIDE(rc, {twin}.{member}({args}));
    rp_engine->received_matched(&call);
    return rc;
"""),
    "send": ("""\
    if (RP_LIKELY(!rp_sends_seen))
        return {twin}.{member}({args});
""", None, None, """\
    if (RP_ELSEWHERE("{name}", rp_threads_on))
        return {twin}.{member}({args});
""" + SENT_ALONE + """\
    {call};
    MPI_Request request;
    rp_turn_begin(&call, false);
    int rc = {twin}.{immediate}({args}, &request);
    rp_turn_end(false);
    if (rc != MPI_SUCCESS)
        return rc;
    RP_INSIDE(rc, {twin}.Wait(&request, MPI_STATUS_IGNORE));
    return rc;
"""),
    "turn_send": ("""\
    if (RP_LIKELY(!rp_sends_seen))
        return {twin}.{member}({args});
""", None, None, """\
    if (RP_ELSEWHERE("{name}", rp_threads_on))
        return {twin}.{member}({args});
""" + SENT_ALONE + TURN),
    "turn": ("""\
    if (RP_LIKELY(!rp_threads_on))
        return {twin}.{member}({args});
""", None, None, """\
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
""" + TURN),
    "post_exchange": ("""\
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    if (RP_IS_WILD(source, tag))
        rp_refuse("{name}");
    {call};
    rp_turn_begin(&call, false);
    int rc = {twin}.{member}({args});
    rp_turn_end(false);
    return rc;
""", None, None, None),
    "persistent": ("""\
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
""", None, None, """\
    {call};
    struct rp_envelope e;
    RP_ENVELOPE(e, source, tag, comm, NULL, 0);
    struct rp_buffer_args b = {{buf, count, datatype}};
    rp_threads_enter();
    rp_engine->persistent_begin(&call, &e, &b);
    int rc = {twin}.{member}({changed});
    rp_engine->persistent_end(&call, &e, rc, request);
    rp_threads_leave();
    return rc;
"""),
    "start": ("""\
    if (RP_IS_IDLE && !rp_state.persistent)
        return {twin}.{member}({args});
""", None, None, """\
    int rc;
    if (RP_ELSEWHERE("{name}", rp_state.persistent))
        return {twin}.{member}({args});
    {call};
    rp_turn_begin(&call, false);
    if (rp_state.persistent)
        rc = rp_engine->{member}(&call, {args});
    else
        RP_INSIDE(rc, {twin}.{member}({args}));
    rp_turn_end(false);
    return rc;
"""),
    "probe": ("""\
    if (RP_IS_IDLE && !RP_IS_WILD(source, tag) && !RP_MAY_OVERLAP(tag))
        return {twin}.{member}({args});
""", None, None, """\
    int rc;
    if (RP_ELSEWHERE("{name}", RP_IS_WILD(source, tag)))
        return {twin}.{member}({args});
    if (RP_IS_WILD(source, tag) || RP_MAY_OVERLAP(tag) || RP_WANTS_ALL || rp_threads_on) {{
        {call};
        if (RP_LIKELY(!rp_threads_on))
            return rp_engine->{member}(&call, {args});
        RP_LOCKED(rc, rp_engine->{member}(&call, {args}));
        return rc;
    }}
    RP_INSIDE(rc, {twin}.{member}({args}));
    return rc;
"""),
    "wait": ("""\
    if (RP_IS_IDLE) {{
        if (!rp_state.watched)
            return {twin}.{member}({args});
        if (request) {{
            struct rp_request *first = rp_requests_first(&rp_state.requests, *request);
            if (rp_request_has(first, *request, RP_REQUEST_USUAL))
                return rp_fast_{member}({args}, first, &{origin});
            if (rp_request_is_free(first, *request))
                return {twin}.{member}({args});
        }}
    }}
""", None, None, """\
    int rc;
    if (RP_ELSEWHERE("{name}", rp_state.watched))
        return {twin}.{member}({args});
    if (RP_IS_WATCHED) {{
        {call};
        if (RP_LIKELY(!rp_threads_on))
            return rp_engine->{operation};
        RP_LOCKED(rc, rp_engine->{operation});
        return rc;
    }}
    RP_INSIDE(rc, {twin}.{member}({args}));
    return rc;
"""),
    "waitall": ("""\
    if (RP_IS_IDLE && !rp_state.watched) {{
        rp_thread_state.waitalls++;
        return {twin}.{member}({args});
    }}
""", None, None, """\
    int rc;
    if (RP_ELSEWHERE("{name}", rp_state.watched))
        return {twin}.{member}({args});
    rp_thread_state.waitalls++;
    if (RP_IS_WATCHED) {{
        {call};
        if (RP_LIKELY(!rp_threads_on))
            return rp_engine->{operation};
        RP_LOCKED(rc, rp_engine->{operation});
        return rc;
    }}
    RP_INSIDE(rc, {twin}.{member}({args}));
    return rc;
"""),
    "call": (CALL, None, None, None),
    "outcome": ("""\
    if (RP_IS_IDLE)
        return rp_fast_{member}({args}, &{origin});
""", None, None, CALL),
    "clock": ("""\
    if (RP_LIKELY(!(rp_captured & RP_CAPTURE_TIME)))
        return {twin}.{member}({args});
    {call};
    return rp_capture_{member}(&call);
""", None, None, None),
    "locked": ("""\
    if (RP_LIKELY(!rp_threads_on) || rp_thread_state.depth != 0)
        return {twin}.{member}({args});
    int rc;
    RP_LOCKED(rc, {twin}.{member}({args}));
    return rc;
""", None, None, None),
    "callbacks": ("""\
    rp_threads_enter();
    rp_slow_set(RP_SLOW_CALLBACKS);
    rp_threads_leave();
    rp_thread_state.depth++;
    int rc = {twin}.{member}({args});
    rp_thread_state.depth--;
    return rc;
""", None, None, None),
    "handlers": ("""\
    rp_threads_enter();
    rp_slow_set(RP_SLOW_CALLBACKS);
    rp_escaped_call_watch();
    rp_threads_leave();
    rp_thread_state.depth++;
    int rc = {twin}.{member}({args});
    rp_thread_state.depth--;
    return rc;
""", None, None, None),
    "fresh": ("""\
    rp_threads_enter();
    rp_slow_set(RP_SLOW_CALLBACKS);
    rp_threads_leave();
    int rc = {twin}.{member}({args});
    rp_threads_enter();
    if (rc == MPI_SUCCESS && !rp_thread_state.depth)
        rp_requests_note_other(*request);
    rp_threads_leave();
    return rc;
""", None, None, None),
    "life": ("""\
    return rp_life_{member}(&{twin}{comma}{args});
""", None, None, None),
    "guard": ("""\
    rp_thread_state.depth++;
    {result} rc = {twin}.{member}({args});
    rp_thread_state.depth--;
    return rc;
""", None, None, None),
    "refuse": ("""\
    rp_refuse("{name}");
    return {twin}.{member}({args});
""", None, None, None),
}
SENDS = {"exchange": ("receive", 1)}

# What a blocking receive becomes where several threads call: a send and a post, as far as it is either, and waits.
THREADED = {
    "MPI_Recv": "return rp_threaded_receive_receive(&call, buf, count, datatype, source, tag, comm, status);",
    "MPI_Sendrecv": "return rp_threaded_receive_exchange(&call, {args});",
    "MPI_Sendrecv_replace": "return rp_threaded_receive_replace(&call, {args});",
}


# gcc copies every argument on the stack to its own place before a jump to another function, unless they are one structure: the entry alone takes them so.
REGISTERS = 6
STACKED = """\
#if defined(RP_STACKED_ARGUMENTS)
struct stacked_{own} {{ long {slots}; }};
{result} inner_{own}({registers}, struct stacked_{own} on_stack) __asm__("{inner}_{own}") RP_HIDDEN;
{result} entry_{own}({registers}, struct stacked_{own} on_stack) __asm__("{own}");

RP_ENTRY {result} entry_{own}({registers}, struct stacked_{own} on_stack)
{{
    int source = (int)on_stack.source, tag = (int)on_stack.tag;
    if (RP_IS_IDLE && !RP_IS_WILD(source, tag) && !RP_MAY_OVERLAP(tag))
        return ((__typeof__(&entry_{own}))(void (*)(void)){twin}.{member})({passed}, on_stack);
    return inner_{own}({passed}, on_stack);
}}
#else
{entry}#endif

"""


# The fields of struct rp_completion (src/preload/completion.h) in the order of the arguments of each function.
COMPLETIONS = {
    "Wait": ("ONE", "requests statuses"),
    "Test": ("ONE", "requests flag statuses"),
    "Waitall": ("ALL", "count requests statuses"),
    "Testall": ("ALL", "count requests flag statuses"),
    "Waitany": ("ANY", "count requests index statuses"),
    "Testany": ("ANY", "count requests index flag statuses"),
    "Waitsome": ("SOME", "count requests outcount indices statuses"),
    "Testsome": ("SOME", "count requests outcount indices statuses"),
}


def completion(function, names):
    """The initialiser of a struct rp_completion for a call of this function; None: it is none that completes requests."""
    if function.member not in COMPLETIONS:
        return None
    form, fields = COMPLETIONS[function.member]
    values = [f".function = \"{function.name}\"", f".form = RP_COMPLETE_{form}"]
    values += [".tests = true"] if function.member.startswith("Test") else []
    values += [".count = 1"] if form == "ONE" else []
    return "{" + ", ".join(values + [f".{field} = {name}" for field, name in zip(fields.split(), names)]) + "}"


def operation(function, names):
    """The engine's operation for this function, with its arguments (struct rp_engine)."""
    completes = completion(function, names)
    if completes:
        return f"complete(&call, &(const struct rp_completion){completes})"
    return f"{function.member}(&call, {', '.join(names)})"


def wrapper(function, entry, prefix):
    names = arguments_of(function, entry)
    kind = entry["kind"]
    shape = entry["shape"] if kind in ("order", "create") else kind
    shape, sends = SENDS.get(shape, (shape, 0))
    args = ", ".join(names)
    changed = ", ".join({"source": "e.source", "tag": "e.tag", "comm": "e.comm", "status": "e.status"}.get(n, n) for n in names)
    seen = ", ".join({"status": "seen"}.get(n, n) for n in names)
    entry_text, event, choice, other = TEMPLATES[shape]
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    parameters = function.parameters(names)
    own = f"{prefix}{function.name}"
    names_of = dict(
        name=function.name, member=function.member, plain=re.sub("_c$", "", function.member), twin=twin, args=args, changed=changed, seen=seen, sends=sends,
        result=function.result, comma=", " if args else "", event=f"RP_TAIL return event_{own}({args});",
        origin=f"origin_{own}",
        call=f"struct rp_call call = {{\"{function.name}\", &{twin}, RP_PLACE}}")
    if choice:
        choice += f"    RP_TAIL return other_{own}({args});\n"
    names_of["immediate"] = "I" + function.member[0].lower() + function.member[1:]
    names_of["immediate_plain"] = re.sub("_c$", "", names_of["immediate"])
    comms = [i for i, kind in enumerate(function.types) if kind[0].strip() == "MPI_Comm" and not kind[1]]
    names_of["comm"] = names[comms[0]] if comms else ""
    names_of["own"] = own
    names_of["completion"] = completion(function, names)
    names_of["operation"] = operation(function, names)
    files = [i for i, kind in enumerate(function.types) if kind[0].replace("*", "").strip() == "MPI_File"]
    names_of["file"] = names[files[0]] if files else ""
    names_of["last"] = names[-1] if names else ""
    names_of["before_last"] = names[-2] if len(names) > 1 else ""
    into = ("recvbuf", "recvcount", "recvtype") if "recvbuf" in names else ("buf", "count", "datatype")
    names_of["into"] = ", ".join(into)
    names_of["threaded"] = THREADED.get(re.sub("_c$", "", function.name), "").format(args=args)
    text = ""
    if "{origin}" in entry_text:
        text = f"static const struct rp_origin origin_{own} = {{\"{function.name}\", &{twin}}};\n\n"
    last = None
    is_stacked = entry_text == RECEIVE[0] and "source" in names[REGISTERS:]
    for kind, body in (("event", event), ("other", other), ("choice", choice)):
        if body:
            last = kind
            linkage = f"RP_HIDDEN {function.result} {kind}_{own}({parameters});\n\n" if is_stacked and kind == "choice" else "static "
            text += (f"{linkage}__attribute__((noinline)) {function.result} {kind}_{own}({parameters})\n"
                     f"{{\n{body.format(**names_of)}}}\n\n")
    if last and "{own}" not in entry_text:  # it does not call the inner one itself
        entry_text += f"    RP_TAIL return {last}_{own}({args});\n"
    whole = f"RP_ENTRY {function.result} {own}({parameters})\n{{\n{entry_text.format(**names_of)}}}\n"
    if is_stacked:
        whole = STACKED.format(**names_of, inner=last, entry=whole, slots=", ".join(names[REGISTERS:]), passed=", ".join(names[:REGISTERS]),
                               registers=", ".join(f"{before}{name}{after}" for (before, after), name in zip(function.types[:REGISTERS], names)))
        return text + whole
    return text + whole + "\n"


def first_call(function, entry, prefix):
    """What the tables hold until the library is found: mpi4py loads it late."""
    names = arguments_of(function, entry)
    twin = "rp_pmpi" if prefix == "P" else "rp_mpi"
    args = ", ".join(names)
    return (f"static {function.result} first_{prefix}{function.name}({function.parameters(names)})\n{{\n"
            f"    rp_next_resolve();\n    if ({twin}.{function.member} == first_{prefix}{function.name})\n"
            f"        rp_next_missing(\"{prefix}{function.name}\");\n    return {twin}.{function.member}({args});\n}}\n\n")


def write_entries(intercepted, known, table, include, out):
    out.write(f"/* Made by api/generate.py. */\n#include \"{include}\"\n\n")
    for prefix in ("", "P"):
        for function in intercepted:
            out.write(first_call(function, table[function.name], prefix))
    for prefix, twin in (("", "rp_mpi"), ("P", "rp_pmpi")):
        out.write(f"struct rp_next {twin} = {{\n")
        for function in intercepted:
            out.write(f"    .{function.member} = first_{prefix}{function.name},\n")
        out.write("};\n\n")
    out.write("void rp_next_resolve(void)\n{\n")
    for prefix, twin in (("", "rp_mpi"), ("P", "rp_pmpi")):
        for function in known:
            out.write(f"    rp_next_find(\"{prefix}{function.name}\", &{twin}.{function.member}, sizeof {twin}.{function.member});\n")
    out.write("}\n\n")
    for function in intercepted:
        for prefix in ("", "P"):
            out.write(wrapper(function, table[function.name], prefix))


def write_all(known, table, include, directory):
    intercepted = [f for f in known if table[f.name]["kind"] != "pass"]
    with open(directory + "/next.h", "w") as out:
        write_next(known, table, out)
    with open(directory + "/entries.c", "w") as out:
        write_entries(intercepted, known, table, include, out)


def make_library(templates, add, include, *more):
    """For the generators of the libraries beside libreprise.so, whose tables do not class every function: ADD completes them. MORE names the arguments behind the usual three, for ADD."""
    global TEMPLATES
    if len(sys.argv) != 4 + len(more):
        fail(f"usage: {sys.argv[0]} " + " ".join(("TABLE", "PREPROCESSED_MPI_H", "OUTPUT_DIRECTORY") + more))
    table = read_table(sys.argv[1])
    header = read_header(sys.argv[2])
    add(header, table, *sys.argv[4:])
    TEMPLATES = templates
    write_all([function for name, function in sorted(header.items()) if name in table], table, include, sys.argv[3])


def main():
    if len(sys.argv) != 4:
        fail("usage: generate.py TABLE PREPROCESSED_MPI_H OUTPUT_DIRECTORY")
    table = read_table(sys.argv[1])
    header = read_header(sys.argv[2])
    unclassed = sorted(set(header) - set(table))
    if unclassed:
        fail("mpi.h declares functions that api/functions.table does not class: " + " ".join(unclassed))
    known = [f for n, f in sorted(header.items()) if table[n]["used"] or table[n]["kind"] != "pass"]
    write_all(known, table, "entry/entry.h", sys.argv[3])


if __name__ == "__main__":
    main()
