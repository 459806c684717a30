# SPDX-License-Identifier: MIT
"""usage: columns.py PAGE JSON: what the page holds is what the report has as JSON. Written from the head of reporthtml.c, not from the page's script."""
import base64
import json
import re
import sys
import zlib

KINDS = " RECV PROBE NO YES NEXT MATCH CANCELLED UNSENT ERROR FREED THREAD TURN VALUE CLOCK".split(" ")


def elements(page, attributes):
    found = re.findall(r'<script type="text/plain" %s>([^<]*)</script>' % attributes, page)
    return [zlib.decompress(base64.b64decode(text, validate=True)) for text in found]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed(self):
        value = self.number()
        return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


def events(data, ranks, timed):
    """Rows as the JSON has them, by rank."""
    r = Reader(data)
    counts = [r.number() for _ in range(ranks)]
    every = [rank for rank in range(ranks) for _ in range(counts[rank])]
    n = len(every)
    heads = [r.byte() for _ in range(n)]
    others = [r.byte() for _ in range(n)]

    def column(read, bit=0, also=lambda i: True):
        return [read() if (not bit or heads[i] & bit) and also(i) else None for i in range(n)]

    def added(values):
        last = {}
        for i, value in enumerate(values):
            if value is not None:
                last[every[i]] = values[i] = last.get(every[i], 0) + value
        return values

    sites, threads, numbers, sources = column(r.number), column(r.signed), column(r.number, 128), column(r.number, 64)
    tags = column(r.signed, 64, lambda i: KINDS[heads[i] & 15] != "CLOCK")
    times = added(column(r.signed)) if timed else [None] * n
    clocks = added(column(r.signed, 16))
    ways, sends = column(r.number, 16), column(r.number, 32)
    candidates = [[r.signed() for _ in range(others[i])] for i in range(n)]
    assert r.at == len(data), "%d bytes too many" % (len(data) - r.at)
    rows = [[] for _ in range(ranks)]
    for i, rank in enumerate(every):
        sent = None if clocks[i] is None else clocks[i] - ways[i]
        rows[rank].append([len(rows[rank]), KINDS[heads[i] & 15], sites[i], threads[i], numbers[i], sources[i], tags[i], times[i], clocks[i], sent, sends[i], candidates[i]])
    return rows


page = open(sys.argv[1], encoding="utf-8").read()
report = json.load(open(sys.argv[2], encoding="utf-8"))
facts = json.loads(elements(page, 'id="facts"')[0])
streams = elements(page, 'class="events"')
assert len(facts["runs"]) == len(report["runs"]) == len(streams)
for told, run, data in zip(facts["runs"], report["runs"], streams):
    timeline = run.pop("timeline")
    assert told == run, "other facts"
    if timeline is None:
        assert data == b"", "events of rows"
        continue
    found = events(data, run["ranks"], run["times"])
    for rank, rows in enumerate(timeline["ranks"]):
        for one, other in zip(rows, found[rank]):
            assert one == other, "rank %d: %s, not %s" % (rank, other, one)
        assert len(rows) == len(found[rank]), "rank %d: %d events, not %d" % (rank, len(found[rank]), len(rows))
print("%s: %d events" % (sys.argv[1], sum(run["sum"]["events"] for run in facts["runs"])))
