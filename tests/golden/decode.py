#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: decode.py RECORD: prints the events of a record as `reprise dump` does, and checks all that docs/format.md says.

A second decoder, written from that document alone, with nothing but Python's standard library and libzstd. Slow and plain on purpose."""
import ctypes
import json
import os
import struct
import sys

NAMES = "? RECV PROBE NO YES NEXT MATCH CANCELLED UNSENT ERROR FREED THREAD TURN VALUE CLOCK".split()
WITH_POST = (6, 7, 10)
MASK = (1 << 64) - 1


def crc32c(data, table=[]):
    if not table:
        for i in range(256):
            for _ in range(8):
                i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
            table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def need(condition, text):
    if not condition:
        sys.exit("decode.py: " + text)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "a payload ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.byte()
            value |= (byte & 127) << 7 * i
            if byte < 128:
                need(value <= MASK, "a varint is too large")
                return value
        need(False, "a varint is too long")

    def svarint(self):
        value = self.varint()
        return -(value + 1 >> 1) if value & 1 else value >> 1

    def string(self):
        return self.take(self.varint())

    def done(self):
        return self.at == len(self.data)


def unzstd(data, length):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(length + 1)
    need(zstd.ZSTD_decompress(out, length, data, len(data)) == length, "a zstd frame is bad")
    return out.raw[:length]


def columns(data, items):
    """Section 3, codec tables: seven columns to events (kind, site, posts, scope, a, b, c)."""
    r = Reader(data)
    kinds = list(r.take(items))
    table = [kinds]
    table += [[r.varint() for _ in range(items)] for _ in range(3)]
    table += [[r.svarint() for _ in range(items)] for _ in range(2)]
    last, expected = [], 0
    for kind in kinds:
        if kind in WITH_POST:
            last.append(expected + r.svarint() & MASK)
            expected = last[-1] + 1
        else:
            last.append(r.varint())
    need(r.done(), "columns are too long")
    return list(zip(*table, last))


def receives(events):
    """Section 6: posts, and the receives that an event itself tells of."""
    return sum(event[2] + (event[0] in (1, 2)) for event in events)


def digest(events):
    h = 0x9E3779B97F4A7C15
    for kind, _, posts, scope, a, b, c in events:
        for word in (kind, posts | scope << 32, a & 0xFFFFFFFF | (b & 0xFFFFFFFF) << 32, c):
            h ^= word * 0x9FB21C651E98DF25 & MASK
            h = (h << 29 | h >> 35) & MASK
            h = h * 0xD6E8FEB86659FD93 & MASK
    return h


def sites(data, modules, table):
    r = Reader(data)
    while not r.done():
        kind = r.byte()
        if kind == ord("M"):
            modules.append((r.string(), r.string()))
            continue
        need(kind == ord("S"), "a site record of an unknown kind")
        function, frames = r.string(), []
        for _ in range(r.varint()):
            frames.append((r.varint(), r.varint()))
            need(frames[-1][0] <= len(modules), "a frame in a module that is not there")
        table.append((function.decode(), frames))


def late_of(chunks):
    """Section 5: what must be in LATE before each EVENTS chunk."""
    posts = before_this = 0
    result = []
    for number, events in enumerate(chunks):
        following = (event for block in chunks[number:] for event in block if event[0] not in (3, 11))
        before_last, before_this = before_this, posts + next(following, (0, 0, 0))[2]
        late = []
        for kind, _, new, _, a, b, c in events:
            posts += new
            own = kind == 10 and c >= posts - new
            if kind in WITH_POST and (number > 0 and c < before_last or own):
                late.append((c, kind, a, b))
        result.append(late)
    return result


def walk(data):
    """The chunks one after another: (kind, stream, codec, items, raw, stored, first, offset, payload)."""
    at = 64
    while at + 48 <= len(data):
        magic, kind, flags, stream, codec, zero, items, raw, stored, zero2, first, crc, own = struct.unpack_from("<4sHHIHHIIIIQII", data, at)
        if magic != b"RPCK":
            break
        need(crc32c(data[at:at + 44]) == own and zero == zero2 == 0, "the header of a chunk is damaged")
        need(kind in range(1, 6) or flags & 1, "a chunk of an unknown kind")
        if at + 48 + stored > len(data):
            break
        payload = data[at + 48:at + 48 + stored]
        need(crc32c(payload) == crc, "a chunk is damaged")
        yield kind, stream, codec, items, raw, stored, first, at, payload
        at += 48 + stored


def check_index(data, chunks):
    if data[-8:] != b"RPRINDEX":
        return
    offset = struct.unpack("<Q", data[-16:-8])[0]
    need(chunks and chunks[-1][0] == 5 and chunks[-1][7] == offset, "the trailer does not point at the index")
    r, end = Reader(chunks[-1][8]), 64
    for kind, stream, _, items, _, stored, first, at, _ in chunks[:-1]:
        entry = [r.varint() for _ in range(6)]
        need(entry == [kind, stream, items, at - end, stored, first], "the index is wrong")
        end = at + 48 + stored
    need(r.done() and chunks[-1][3] == len(chunks) - 1, "the index is too long")


def from_ring(path, run, rank, first):
    """Section 8: events from `first` on that are in the ring alone."""
    data = open(path, "rb").read()
    magic, major, _, capacity, ring_run, ring_rank, stream = struct.unpack_from("<8sHHIQII", data)
    need(magic == b"\x89RPRRNG\n" and major == 1 and (ring_run, ring_rank, stream) == (run, rank, 0), "not the ring of this rank")
    need(crc32c(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the ring's header is damaged")
    head, tail, open_at = (struct.unpack_from("<Q", data, at)[0] for at in (64, 128, 192))
    need(tail <= head and first <= head <= first + capacity, "the ring does not fit the log")
    events = [struct.unpack_from("<IIIIiiQ", data, 4096 + 32 * (i % capacity)) for i in range(first, head)]
    for back in range(1, len(events) + 1):
        event = events[-back]
        if event[0] == 4 and event[5] > back:
            return events[:-back]
        if event[0] != 5:
            break
    runs = [struct.unpack_from("<IIIIiiQ", data, 256 + 32 * i) for i in range(16)] if open_at == head else []
    runs = [run for run in runs if run[0] == 3 and run[6]]
    return events + [run[:5] + (len(runs) - 1 - i, run[6]) for i, run in enumerate(runs)]


def read_log(directory, run, rank, ranks):
    data = open(os.path.join(directory, "rank-%05d.log" % rank), "rb").read()
    magic, major, _, features, log_run, log_rank, log_ranks = struct.unpack_from("<8sHHIQII", data)
    need(magic == b"\x89RPRLOG\n" and major == 1 and features == 0, "not a log of version 1")
    need(crc32c(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the log's header is damaged")
    need((log_run, log_rank, log_ranks) == (run, rank, ranks), "the log of another run or rank")
    chunks = list(walk(data))
    check_index(data, chunks)
    modules, table, blocks, late, told, ended = [], [], [], [], [], None
    for kind, stream, codec, items, raw, _, first, _, payload in chunks:
        if kind == 1:
            need(stream == 0 and codec == 1 and first == sum(map(len, blocks)), "an EVENTS chunk out of place")
            blocks.append(columns(unzstd(payload, raw), items))
            told.append(late)
            late = []
        elif kind == 2:
            need(first == len(table), "a SITES chunk out of place")
            sites(payload, modules, table)
            need(len(table) == first + items, "a SITES chunk with another number of sites")
        elif kind == 3:
            r = Reader(payload)
            late = [(r.varint(), r.byte(), r.svarint(), r.svarint()) for _ in range(items)]
            need(r.done() and items > 0, "a LATE chunk is bad")
        elif kind == 4:
            r = Reader(payload)
            ended = [r.byte(), r.svarint()] + [(r.varint(), r.u64(), r.u64(), r.u64()) for _ in range(items)]
            need(r.done(), "an END chunk is bad")
    need(told == late_of(blocks), "late matches are not those of section 5")
    events = [event for block in blocks for event in block]
    if ended:
        need(ended[2:] == [(0, len(events), receives(events), digest(events))], "END tells of other events")
    else:
        events += from_ring(os.path.join(directory, "rank-%05d.0.ring" % rank), run, rank, len(events))
    return events, table


def line(rank, number, event, table):
    kind, site, posts, scope, a, b, c = event
    text = "%d %d %s %s site=%d" % (rank, number, NAMES[kind], table[site][0], site)
    if posts:
        text += " posts=%d" % posts
    if kind in (1, 2):
        return text + " comm=%d source=%d tag=%d" % (scope, a, b)
    if kind in (6, 10):
        return text + " post=%d source=%d tag=%d" % (c, a, b)
    return text + {3: " scope=%d times=%d" % (scope, c) + (" thread=%d" % a if a else ""), 11: " thread=%d identity=%016x" % (a, c),
                   12: " thread=%d turns=%d" % (a, c), 13: " value=%d" % a, 4: " requests=%d index=%d count=%d" % (scope, a, b), 5: " index=%d" % a,
                   7: " number=%d" % c, 8: " number=%d" % c, 14: " sender=%d clock=%d index=%d" % (a, c, b), 9: " class=%d" % a}[kind]


def main():
    directory = sys.argv[1]
    path = os.path.join(directory, "manifest.json")
    with open(path if os.path.exists(path) else os.path.join(directory, "incomplete"), encoding="utf-8") as file:
        manifest = json.load(file)
    need(manifest["format"] == "reprise-run" and manifest["major"] == 1, "not a record of version 1")
    for rank in range(manifest["ranks"]):
        events, table = read_log(directory, int(manifest["run"], 16), rank, manifest["ranks"])
        for number, event in enumerate(events):
            print(line(rank, number, event, table))


main()
