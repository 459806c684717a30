#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the entry points of libreprise.so. Usage and output: generate.py.

An entry is up to three functions, so that each needs no more of a stack frame than it must: the entry
itself, which lets pass what needs no engine; `event`, the usual call that makes an event; and
`other`, everything else. One ends in a jump to the next (and not in several: gcc gets that wrong),
so that their return address is the program's. A template is the entry, the event, the choice between
event and other, and the other.
"""
import generate

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
    "spawn": ("""\
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    {call};
    if (!rp_engine->spawn || rp_is_allowed("{name}")) {{
        rp_refuse("{name}");
        return {twin}.{member}({args});
    }}
    return rp_engine->spawn(&call, &(const struct rp_spawn){spawn});
""", None, None, None),
    "open_port": ("""\
    int rc;
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    RP_INSIDE(rc, {twin}.{member}({args}));
    if (rc == MPI_SUCCESS && rp_engine->port_opened)
        rp_engine->port_opened(port_name);
    return rc;
""", None, None, None),
    "close_port": ("""\
    if (!RP_ELSEWHERE("{name}", 1) && rp_engine->port_closed)
        rp_engine->port_closed(port_name);
    return {twin}.{member}({args});
""", None, None, None),
    "publish": ("""\
    if (!RP_ELSEWHERE("{name}", 1) && rp_engine->publishing)
        rp_engine->publishing(service_name, port_name);
    return {twin}.{member}({args});
""", None, None, None),
    "connect": ("""\
    int rc, rank = -1;
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    {call};
    if (!rp_engine->connect || rp_is_allowed("{name}")) {{
        rp_refuse("{name}");
        return {twin}.{member}({args});
    }}
    if (rp_pmpi.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root)
        return rp_engine->connect(&call, &(const struct rp_connection){{{args}}});
    RP_INSIDE(rc, {twin}.{member}({args}));
    return rc;
""", None, None, None),
    "accept": ("""\
    int rc, rank = -1;
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    if (!rp_engine->accepted || rp_is_allowed("{name}")) {{
        rp_refuse("{name}");
        return {twin}.{member}({args});
    }}
    RP_INSIDE(rc, {twin}.{member}({args}));
    if (rc == MPI_SUCCESS && rp_pmpi.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root)
        rp_engine->accepted("{name}", port_name);
    return rc;
""", None, None, None),
    "lookup": ("""\
    if (RP_ELSEWHERE("{name}", 1))
        return {twin}.{member}({args});
    {call};
    if (!rp_engine->Lookup_name || rp_is_allowed("{name}")) {{
        rp_refuse("{name}");
        return {twin}.{member}({args});
    }}
    return rp_engine->Lookup_name(&call, {args});
""", None, None, None),
    "refuse": ("""\
    rp_refuse("{name}");
    return {twin}.{member}({args});
""", None, None, None),
}
TEMPLATES["exchange"] = TEMPLATES["receive"]

# What a blocking receive becomes where several threads call: a send and a post, as far as it is either,
# and waits.
THREADED = {
    "MPI_Recv": "return rp_threaded_receive_receive(&call, buf, count, datatype, source, tag, comm, status);",
    "MPI_Sendrecv": "return rp_threaded_receive_exchange(&call, {args});",
    "MPI_Sendrecv_replace": "return rp_threaded_receive_replace(&call, {args});",
}


SPAWN = {
    "MPI_Comm_spawn": "{1, &(char *){(char *)command}, &(char **){argv}, &maxprocs, &info, root, comm, "
                      "intercomm, array_of_errcodes, 0}",
    "MPI_Comm_spawn_multiple": "{count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, "
                               "root, comm, intercomm, array_of_errcodes, 1}",
}


# gcc copies every argument on the stack to its own place before a jump to another function, unless they
# are one structure: the entry alone takes them so.
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


def renamed(names, changes):
    return ", ".join(changes.get(name, name) for name in names)


def operation(entry):
    """The engine's operation for this function, with its arguments (struct rp_engine)."""
    if entry.completion:
        return f"complete(&call, &(const struct rp_completion){entry.completion})"
    return f"{entry.member}(&call, {entry.args})"


class Record(generate.Library):
    refuses_unknown = True

    def template(self, entry):
        if entry.name == "MPI_Recv_c":
            return self.templates["receive"]  # the engines make only MPI_Recv themselves
        return self.templates[entry.cell]

    def keys(self, entry, prefix):
        keys = super().keys(entry, prefix)
        own, twin = keys["own"], keys["twin"]
        into = "recvbuf, recvcount, recvtype" if "recvbuf" in entry.names else "buf, count, datatype"
        keys.update(
            changed=renamed(entry.names, {name: f"e.{name}" for name in ("source", "tag", "comm", "status")}),
            seen=renamed(entry.names, {"status": "seen"}),
            sends=int(entry.cell == "exchange"), into=into,
            spawn=SPAWN.get(entry.name, ""),
            threaded=THREADED.get(entry.plain_name, "").format(args=entry.args),
            operation=operation(entry), event=f"RP_TAIL return event_{own}({entry.args});", origin=f"origin_{own}",
            call=f"struct rp_call call = {{\"{entry.name}\", &{twin}, RP_PLACE}}")
        return keys

    def wrapper(self, entry, prefix):
        body, event, choice, other = self.template(entry)
        keys, own, text, last = self.keys(entry, prefix), prefix + entry.name, "", None
        choice = choice and choice + f"    RP_TAIL return other_{own}({entry.args});\n"
        if "{origin}" in body:
            text = f"static const struct rp_origin origin_{own} = {{\"{entry.name}\", &{keys['twin']}}};\n\n"
        is_stacked = body == RECEIVE[0] and "source" in entry.names[REGISTERS:]
        for kind, part in (("event", event), ("other", other), ("choice", choice)):
            if part:
                last = kind
                hidden = f"RP_HIDDEN {entry.result} {kind}_{own}({entry.parameters});\n\n"
                text += hidden if is_stacked and kind == "choice" else "static "
                text += (f"__attribute__((noinline)) {entry.result} {kind}_{own}({entry.parameters})\n"
                         f"{{\n{part.format(**keys)}}}\n\n")
        if last:
            body += f"    RP_TAIL return {last}_{own}({entry.args});\n"
        whole = f"RP_ENTRY {entry.result} {own}({entry.parameters})\n{{\n{body.format(**keys)}}}\n"
        return text + (stacked(entry, keys, last, whole) if is_stacked else whole + "\n")


def stacked(entry, keys, inner, whole):
    registers = zip(entry.function.types[:REGISTERS], entry.names)
    return STACKED.format(
        **keys, inner=inner, entry=whole, slots=", ".join(entry.names[REGISTERS:]),
        passed=", ".join(entry.names[:REGISTERS]),
        registers=", ".join(f"{before}{name}{after}" for (before, after), name in registers))


if __name__ == "__main__":
    Record("record", "entry/entries.h", TEMPLATES).make()
