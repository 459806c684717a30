#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: decode.py RECORD: prints the events or rows of a record as `reprise dump` does, and checks all that docs/format.md says.

A second decoder, written from that document alone, with nothing but Python's standard library and libzstd. Slow and plain on purpose."""
import bisect
import ctypes
import itertools
import json
import operator
import os
import struct
import sys
import zlib

NAMES = "? RECV PROBE NO YES NEXT MATCH CANCELLED UNSENT ERROR FREED THREAD TURN VALUE CLOCK".split()
WITH_POST = (6, 7, 10)
WITHOUT_POSTS = (3, 11, 14)
RECV, PROBE, NO, YES, NEXT, MATCH, CANCELLED, UNSENT, ERROR, FREED, THREAD_EVENT, TURN, VALUE, CLOCK = range(1, 15)
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


def unzigzag(value):
    return -(value + 1 >> 1) if value & 1 else value >> 1


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
        return unzigzag(self.varint())

    def string(self):
        return self.take(self.varint())

    def done(self):
        return self.at == len(self.data)


def unzstd(data):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    length = zstd.ZSTD_getFrameContentSize(data, len(data))
    need(length < 1 << 32, "a zstd frame that does not tell its length")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(length + 1)
    need(zstd.ZSTD_decompress(out, length, data, len(data)) == length, "a zstd frame is bad")
    return out.raw[:length]


def posts_of(r, kinds):
    """The column c."""
    last, expected = [], 0
    for kind in kinds:
        if kind in WITH_POST:
            last.append(expected + r.svarint() & MASK)
            expected = last[-1] + 1
        else:
            last.append(r.varint())
    return last


def columns(data, items):
    """Section 3, codec tables: seven columns to events (kind, site, posts, scope, a, b, c)."""
    r = Reader(data)
    kinds = list(r.take(items))
    table = [kinds]
    table += [[r.varint() for _ in range(items)] for _ in range(3)]
    table += [[r.svarint() for _ in range(items)] for _ in range(2)]
    last = posts_of(r, kinds)
    need(r.done(), "columns are too long")
    return list(zip(*table, last))


# Section 3, codec mix.

KNOTS = [int(k) for k in """1 1 1 1 2 3 4 5 8 11 17 24 35 51 75 109 158 230 335 487 708 1026 1484 2141 3073 4384 6199 8659 11898 16008 20983 26672 32768
    38864 44553 49528 53638 56877 59337 61152 62463 63395 64052 64510 64828 65049 65201 65306 65378 65427 65461 65485 65501 65512 65519 65525 65528 65531
    65532 65533 65534 65535 65535 65535 65535""".split()]
SQUASH = [(KNOTS[x // 64] * (64 - x % 64) + KNOTS[x // 64 + 1] * (x % 64)) // 64 for x in range(4096)]
STRETCH = [min(max(bisect.bisect_left(SQUASH, 16 * q + 8), 1), 4095) - 2048 for q in range(4096)]
STEP = [327680 // (5 * n + 7) for n in range(81)]
FRESH = [1 << 24] * 15 + [0] * 16

(SHAPE, SHAPE_TREE, SHAPE_SITE, PLAIN, SCOPE, POSTS, GROUP, THREAD, POLLS_NEAR, POLLS, COUNT, CHOICE, CHOICE_TREE, CHOICE_NEGATIVE, TAG, POST_NEW, POST, REST_B,
 REST_C, GROWS, GROWTH) = range(21)


def hashed(word, salt):
    x = (word + salt) * 0x9E3779B97F4A7C15 & MASK
    return ((x ^ x >> 29) * 0xBF58476D1CE4E5B9 & MASK) >> 32


def signed32(value):
    return (value + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


def class_of(x):
    length = x.bit_length()
    return x if x < 8 else 8 + 2 * length + (x >> length - 2 & 1)


class RangeCoder:
    def __init__(self, data):
        self.data, self.at = data, 0
        self.low, self.high, self.code = 0, 0xFFFFFFFF, 0
        for _ in range(4):
            self.take()

    def take(self):
        self.code = (self.code << 8 | (self.data[self.at] if self.at < len(self.data) else 0)) & 0xFFFFFFFF
        self.at += 1

    def bit(self, p):
        middle = self.low + ((self.high - self.low) * p >> 16)
        one = self.code <= middle
        if one:
            self.high = middle
        else:
            self.low = middle + 1
        while (self.low ^ self.high) < 1 << 24:
            self.low = self.low << 8 & 0xFFFFFFFF
            self.high = self.high << 8 & 0xFFFFFFFF | 255
            self.take()
        return one

    def plain(self, count):
        value = 0
        for _ in range(count):
            value = value << 1 | self.bit(32768)
        return value

    def done(self):
        return self.at == len(self.data) + 3


class Symbol:
    """Six contexts and a salt. The first line is found at once, the others when they are needed."""
    def __init__(self, mixer, field, words, salt=None):
        self.mixer, self.field, self.words = mixer, field, words
        self.salt = 8 * (field if salt is None else salt)
        self.lines = [self.line(0)]

    def line(self, i):
        h = ((self.words[i] ^ (self.salt + i) * 0xD6E8FEB86659FD93 & MASK) * 0x9E3779B97F4A7C15 & MASK) >> 32 | 1
        line = self.mixer.table[h >> 18]
        if line[30] != h:
            line[:] = FRESH
            line[30] = h
        return line

    def bit(self, node, part=0, place=None):
        if len(self.lines) == 1:
            if not 1 << 19 <= self.lines[0][node] < 63 << 19:
                return self.sure_bit(node)
            self.lines += [self.line(i) for i in range(1, 6)]
        place = node if place is None else place
        weights = self.mixer.weights[((2 * self.field + part) * 16 + place) * 8 + (self.mixer.h0 & 7)]
        return self.mixed_bit(node, weights)

    def sure_bit(self, node):
        line = self.lines[0]
        one = self.mixer.coder.bit(max(line[node] >> 9, 1))
        self.learnt(line, node, line[node], line[node + 15], one)
        return one

    def mixed_bit(self, node, weights):
        were = [(line[node], line[node + 15]) for line in self.lines]
        stretched = [STRETCH[p >> 13] for p, _ in were]
        total = signed32(sum(map(operator.mul, weights, stretched))) >> 14
        p = SQUASH[min(max(total, -2047), 2047) + 2048]
        one = self.mixer.coder.bit(p)
        error = 65535 - p if one else -p
        weights[:] = [signed32(w + (s * error + 16384 >> 15)) for w, s in zip(weights, stretched)]
        for line, (p, n) in zip(self.lines, were):
            self.learnt(line, node, p, n, one)
        return one

    @staticmethod
    def learnt(line, node, p, n, one):
        line[node] = p + (((32767 if one else 0) - (p >> 10)) * STEP[n] >> 6)
        line[node + 15] = min(n + 1, 80)

    def tree(self, count, first=0, part=0):
        prefix = 1
        for _ in range(count):
            prefix = prefix << 1 | self.bit(first + prefix - 1, part)
        return prefix - (1 << count)

    def large(self, first):
        length = 1
        while length < 16 - first and self.bit(first + length - 1):
            length += 1
        if length == 16 - first:
            length += self.mixer.coder.plain(6)
        value, left = 1, length - 1
        for group in range(3):
            count = min(left, 4)
            if count:
                salt = self.field + 32 + 64 * length + (4096 * (value + 1) if group else 0)
                value = value << count | Symbol(self.mixer, self.field, self.words, salt).tree(count, part=1)
                left -= count
        return value << left | self.mixer.coder.plain(left)


class Mixer:
    """Probabilities, and the symbols that are made of bits. A line is one list: the p of its 15 nodes, their n, and its name."""
    def __init__(self):
        self.table = [[0] * 31 for _ in range(16384)]
        self.weights = [[4915] * 6 for _ in range(21 * 2 * 16 * 8)]
        self.coder, self.h0 = None, 0

    def flag(self, field, words):
        return Symbol(self, field, words).bit(0)

    def number(self, field, words):
        symbol = Symbol(self, field, words)
        if not symbol.bit(0):
            return 0
        if not symbol.bit(1):
            return 1
        if not symbol.bit(2):
            return 2 + symbol.tree(2, 3)
        return 5 + symbol.large(6)

    def signed(self, field, words):
        return unzigzag(self.number(field, words))

    def listed(self, field, words, entries, other, may_enter):
        """A value of a list of [value, count], or what `other` tells, which is entered if `may_enter` says so."""
        symbol = Symbol(self, field, words)
        place = 0
        while place < len(entries) and not symbol.bit(entries[place][0] % 15, place=place):
            place += 1
        if place == len(entries):
            value = other()
            if may_enter(value):
                entries[min(place, 7):] = [[value, 1]]
            return value
        entry = entries[place]
        entry[1] = min(entry[1] + 1, 65535)
        if place and entry[1] > entries[place - 1][1] + 8:
            entries[place - 1:place + 1] = entry, entries[place - 1]
        return entry[0]


class Shape:
    def __init__(self, kind, site):
        self.kind, self.site = kind, site
        self.choices = []
        self.posts = self.a0 = self.a1 = self.a2 = self.b = self.c0 = self.c1 = 0


class Mix:
    """The state of the codec, and the five steps of an event (kind, site, posts, scope, a, b, c).

    In the document's letters, h is H0 to H3, before E, yes Y, polls Q, near D, last C, lasts B, thread T, posts G, next_post N, trail R0 to R2."""
    def __init__(self):
        self.mixer = Mixer()
        self.shapes = []
        self.h = (0, 0, 0, 0)
        self.before = (0, 0, 0, 0, 0, 0, 0)
        self.yes = self.polls = self.near = self.last = self.lasts = self.thread = self.posts = self.next_post = 0
        self.scopes = [0] * 1280
        self.followers = {}
        self.tags = [0] * 1024
        self.tag_before = [0] * 1024
        self.last_tag = 0
        self.since = [0] * 1024
        self.reposted = [0] * 1024
        self.trail = (0, 0, 0)
        self.predictions = [None] * 1024
        self.confidence = [3932160] * 16

    def chunk(self, data, items):
        self.mixer.coder = RangeCoder(data)
        events = [self.event() for _ in range(items)]
        need(self.mixer.coder.done(), "a chunk of codec mix has another length")
        return events

    def event(self):
        r0, r1, r2 = self.trail
        key = hashed(r0 | r1 << 32, r2) | 1
        slot = key >> 1 & 1023
        name, hits, id_, event = self.predictions[slot] or (0, 0, 0, None)
        if name == key and hits >= 10 and self.comes(min(hits, 15)):
            event = self.less_post(event, -1)
        else:
            id_, new = self.fields()
            relative = self.less_post(new, 1)
            if name == key and event == relative:
                self.predictions[slot] = name, min(hits + 1, 16), id_, event
            elif id_ < 1024:
                self.predictions[slot] = key, 0, id_, relative
            self.learn(id_, new)
            return new
        self.predictions[slot] = name, min(hits + 1, 16), id_, self.predictions[slot][3]
        self.learn(id_, event)
        return event

    def comes(self, hits):
        confidence = self.confidence[hits]
        one = self.mixer.coder.bit(max(confidence >> 6, 1))
        self.confidence[hits] = confidence + (((1 << 22) - 1 - confidence) >> 6) if one else confidence - (confidence >> 6)
        return one

    def less_post(self, event, sign):
        return event[:6] + (event[6] - sign * self.next_post & MASK,) if event[0] in WITH_POST else event

    def fields(self):
        self.mixer.h0 = self.h[0]
        id_, shape = self.shape()
        kind, site = shape.kind, shape.site
        plain, scope = self.plain(id_, kind, site)
        posts = 0 if kind in WITHOUT_POSTS else self.new_posts(id_, shape)
        if kind == YES:
            a, b, c = self.event_yes(id_, shape, plain)
        elif kind == NEXT:
            a, b, c = self.event_next(id_, shape, plain)
        elif kind == NO:
            a, b, c = self.event_no(id_, shape, plain)
        elif kind in (RECV, PROBE) + WITH_POST:
            a, b, c = self.event_message(id_, shape, plain)
        else:
            a, b, c = self.event_other(id_, shape)
        return id_, (kind, site, posts, scope, a, b, c)

    def learn(self, id_, event):
        kind, site, posts, scope, a, b, c = event
        shape = self.shapes[id_ - 1]
        self.posts += posts
        self.scopes[self.scope_entry(kind, site)] = scope
        self.near = 0
        if kind == NO:
            before_kind, before_b, before_c = self.before[0], self.before[5], self.before[6]
            if before_kind == NO and before_b > 0:
                self.near = {0: 1, 1: 2, MASK: 3}.get(c - before_c & MASK, 4)
            self.thread, self.polls = a, class_of(c)
            self.since[site % 1024] = self.since[site % 1024] + c & 0xFFFFFFFF
        elif kind == NEXT or kind == YES and b > 0:
            self.take(a)
            self.reposted[(31 * site + self.last) % 1024] = self.posts
        elif kind in (RECV, PROBE) + WITH_POST:
            entry = (7 * a + site) % 1024
            self.tag_before[entry], self.last_tag = self.last_tag, entry
            self.tags[entry] = b
            if kind in WITH_POST:
                self.next_post = c + 1 & MASK
            self.take(a)
        if kind == YES:
            self.yes = id_
            self.since[site % 1024] = 0
        shape.posts, shape.b = posts, b
        shape.a0, shape.a1, shape.a2 = a, shape.a0, shape.a1
        shape.c0, shape.c1 = c, shape.c0
        self.h = (id_,) + self.h[:3]
        self.before = event
        self.trail = (id_ + a * 0x9E3779B1 + (0 if kind == NO else b) * 0x85EBCA6B & 0xFFFFFFFF,) + self.trail[:2]

    def polled_since(self, id_):
        return class_of(self.since[self.shapes[id_ - 1].site % 1024]) if id_ else 0

    def shape(self):
        h0, h1, h2, h3 = self.h
        a, b = self.before[4:6]
        start = h0 | h1 << 10 | (b & 31) << 20
        yes = h0 | self.yes << 10 | (b & 31) << 20 | self.near << 25
        words = (start | (a & 255) << 25, start | h2 << 25, start | h2 << 25 | h3 << 35, start | (self.lasts & 255) << 25 | (a & 255) << 33,
                 yes | self.polls << 28, yes | self.polled_since(self.yes) << 28 | self.polled_since(h0) << 36)
        known = min(len(self.shapes), 1023)
        number = self.mixer.listed(SHAPE, words, self.followers.setdefault(h0, []), lambda: self.shape_number(words, known), lambda number: number < known)
        if number == known:
            kind = self.mixer.coder.plain(8)
            choices = self.shapes[number].choices if number < len(self.shapes) else []
            self.shapes[number:] = [Shape(kind, self.mixer.number(SHAPE_SITE, words))]
            self.shapes[number].choices = choices
        return number + 1, self.shapes[number]

    def shape_number(self, words, known):
        left = max(known.bit_length(), 1)
        prefix = 1
        while left:
            count = (left - 1) % 4 + 1
            prefix = prefix << count | Symbol(self.mixer, SHAPE_TREE, words, SHAPE_TREE + 64 * prefix).tree(count)
            left -= count
        number = prefix - (1 << prefix.bit_length() - 1)
        need(number <= known, "a shape that is not there")
        return number

    def scope_entry(self, kind, site):
        return site % 1024 if kind in (RECV, PROBE, NO, YES) else 1024 + kind % 256

    def plain(self, id_, kind, site):
        scope = self.scopes[self.scope_entry(kind, site)]
        h0, h1, h2, h3 = self.h
        word = id_ | (scope & 0xFFFF) << 10
        longer = word | h0 << 26 | h1 << 36
        words = (word, id_, longer, longer | (self.before[4] & 255) << 46, word | self.polls << 26 | (self.last & 255) << 36, longer ^ h2 << 46 ^ h3 << 54)
        plain = self.mixer.flag(PLAIN, words)
        if not plain:
            scope = self.mixer.number(SCOPE, words)
        return plain, scope

    def new_posts(self, id_, shape):
        h0, h1, h2, h3 = self.h
        a, b = self.before[4:6]
        two = id_ | h0 << 10 | h1 << 20
        three = two | h2 << 30
        return self.mixer.number(POSTS, (three | (b & 255) << 40, id_ | (shape.posts & 0xFFFF) << 20, id_ | h0 << 10, two,
                                         three | h3 << 40 | (a & 255) << 50, two | self.polls << 30))

    def few(self, id_, shape):
        h0, h1 = self.h[:2]
        return (id_, id_ | h0 << 10, id_ | h0 << 10 | h1 << 20, id_ | (self.before[4] & 0xFFFF) << 10, id_ | (shape.b & 0xFFFF) << 10, id_ | (shape.c0 & 0xFFFF) << 10)

    def take(self, value):
        self.last = value + 1 & 0xFFFFFFFF
        self.lasts = (self.lasts << 4 | value & 15) & 0xFFFFFFFF

    def choice(self, shape, words):
        return self.mixer.listed(CHOICE, words, shape.choices, lambda: self.other_choice(words) + 1, lambda value: 0 <= value < 65535) - 1

    def other_choice(self, words):
        symbol = Symbol(self.mixer, CHOICE_TREE, words)
        value = symbol.tree(3)
        if value == 0:
            return -self.mixer.number(CHOICE_NEGATIVE, words)
        return value - 1 if value < 7 else 5 + symbol.large(7)

    def index(self, id_, shape, n, b):
        start = id_ | n << 10 | (b & 31) << 23
        two = start | (shape.a0 & 0xFFF) << 28 | (shape.a1 & 0xFFF) << 40
        last = self.last & 0xFFF
        return self.choice(shape, (start | (self.lasts & 0xFFFF) << 28, start | self.yes << 28 | last << 38, two, start | self.h[0] << 28 | self.h[1] << 38 | last << 48,
                                   start | self.polls << 28 | (shape.a0 & 0xFFF) << 36, two ^ (shape.a2 & 0xFFF) << 52))

    def event_yes(self, id_, shape, plain):
        h0, h1 = self.h[:2]
        word = id_ | (shape.b & 0x3FF) << 10
        told = self.mixer.number(COUNT, (word, id_ | self.polled_since(id_) << 30 | (self.last & 255) << 40, id_ | h0 << 10 | self.polls << 20,
                                         id_ | h0 << 10 | h1 << 20 | (self.before[4] & 255) << 30, word | (shape.a0 & 0x3FF) << 20 | (shape.a1 & 0x3FF) << 30, id_))
        b = (1, 0, -1)[told] if told < 3 else told - 1
        c = 0 if plain else self.mixer.number(REST_C, self.few(id_, shape))
        return self.index(id_, shape, 0, b) if b > 0 else -1, b, c

    def event_next(self, id_, shape, plain):
        b = 0 if plain else self.mixer.signed(REST_B, self.few(id_, shape))
        c = 0 if plain else self.mixer.number(REST_C, self.few(id_, shape))
        return self.index(id_, shape, (self.before[4] & 0xFFF) + 1, b), b, c

    def event_no(self, id_, shape, plain):
        h0, h1, h2, h3 = self.h
        kind, _, _, _, before_a, before_b, before_c = self.before
        two = id_ | h0 << 10 | h1 << 20
        g = before_b & 31
        b = self.mixer.number(GROUP, (two | g << 30, id_ | (g + 1 if kind == NO else 0) << 30, two | g << 30 | h2 << 35, two | g << 30 | h2 << 35 | h3 << 45,
                                      two | g << 30 | self.polls << 35, id_ | g << 10 | self.yes << 20 | (self.last & 255) << 30))
        thread = self.thread if plain else self.mixer.signed(THREAD, (id_ | (self.thread & 0xFFFF) << 10,) + self.few(id_, shape)[1:])
        near, k = 3, 0
        if kind == NO and before_b > 0:
            k = class_of(before_c)
            three = two | h2 << 30
            symbol = Symbol(self.mixer, POLLS_NEAR, (three | k << 40, two | b << 30, id_ | k << 10, two | (self.lasts & 255) << 30, three | h3 << 40,
                                                     id_ | k << 10 | class_of(shape.c0) << 18))
            near = next((n for n in range(3) if symbol.bit(n)), 3)
            k += 1
        if near < 3:
            c = before_c + (0, 1, -1)[near] & MASK
        else:
            w = id_ | b << 10 | k << 14
            last = w | class_of(shape.c0) << 23
            history = w | h0 << 23 | h1 << 33
            c = 1 + self.mixer.number(POLLS, (history | (before_a & 255) << 43, last, w, last | class_of(shape.c1) << 31,
                                              w | (self.last & 255) << 23 | (self.lasts & 255) << 31 | h1 << 39, history | h2 << 43 | h3 << 53)) & MASK
        return thread, b, c

    def event_message(self, id_, shape, plain):
        h0 = self.h[0]
        before_a = self.before[4]
        one = id_ | (shape.a0 & 0xFFFF) << 10
        two = one | (shape.a1 & 0xFFFF) << 26
        a = self.choice(shape, (two, one, two ^ (shape.a2 & 0xFFFF) << 42, id_ | h0 << 10 | (before_a & 0xFFFF) << 20, one | (self.last & 0xFFFF) << 26, id_))
        entry = (7 * a + shape.site) % 1024
        earlier = (self.tags[self.tag_before[entry]] & 0xFFFF)
        word = id_ | (self.tags[entry] & 0xFFFF) << 10
        b = signed32(self.tags[entry] + self.mixer.signed(TAG, (word | earlier << 26, word, word | h0 << 26 | (shape.b & 255) << 36, word | (shape.b & 0xFFFF) << 26,
                                                                id_ | (a & 0xFFFFFF) << 10, id_ | earlier << 10 | (shape.b & 0xFFFF) << 26)))
        if shape.kind in WITH_POST:
            c = self.reposted[(31 * shape.site + self.last) % 1024]
            post_words = (id_ | (self.last & 0xFFF) << 10, id_, id_ | h0 << 10 | (before_a & 0xFFF) << 20, id_ | (shape.b & 0xFFFF) << 10,
                          id_ | h0 << 10 | self.h[1] << 20, id_ | (self.lasts & 0xFFFF) << 10)
            if self.mixer.flag(POST_NEW, post_words):
                c = self.next_post + self.mixer.signed(POST, post_words) & MASK
        else:
            c = 0 if plain else self.mixer.number(REST_C, self.few(id_, shape))
        return a, b, c

    def event_other(self, id_, shape):
        h0, h1, h2 = self.h[:3]
        two = id_ | h0 << 10 | h1 << 20
        a0 = shape.a0 & 0xFFF
        words = (two, id_, id_ | a0 << 10 | (shape.a1 & 0xFFF) << 22 | (shape.a2 & 0xFFF) << 34, id_ | class_of(shape.c0) << 10, two | h2 << 30 | a0 << 40,
                 id_ | class_of(shape.c0) << 10 | class_of(shape.c1) << 20)
        a = self.choice(shape, words)
        b = self.mixer.signed(REST_B, words)
        if self.mixer.flag(GROWS, words):
            return a, b, shape.c0 + self.mixer.signed(GROWTH, words) & MASK
        return a, b, self.mixer.number(REST_C, words)


# Section 3, rows. A table of raw and gzip is (site, rows), one of cdc a dictionary; a row is a dictionary with its kind as "row".


def unmatched(count, thread):
    return {"row": "UNMATCHED", "count": count, "thread": thread}


def message(sender, clock, index, with_next=0):
    return {"row": "MESSAGE", "sender": sender, "clock": clock, "index": index, "with_next": with_next}


def other(event, order=0, with_next=0):
    kind, _, _, scope, a, b, c = event
    return {"row": "OTHER", "event": kind, "scope": scope, "a": a, "b": b, "c": c, "order": order, "with_next": with_next}


def raw_table(r):
    site, count, others, flags = r.varint(), r.varint(), r.varint(), r.byte()
    need(flags < 4, "a table with unknown flags")
    bits = int.from_bytes(r.take((162 * count + 7) // 8), "little")
    rows = []
    for _ in range(count):
        times, is_message, rank, with_next, clock = (bits >> at & (1 << width) - 1 for at, width in ((0, 64), (64, 1), (65, 32), (97, 1), (98, 64)))
        bits >>= 162
        if is_message:
            need(times == 1, "a message that is not one")
            rows.append(message(signed32(rank), clock, -1, with_next))
        else:
            need(times and not rank and not with_next and not clock, "polls with a message")
            rows.append(unmatched(times, 0))
    need(bits == 0, "bits behind the rows")
    for row in rows:
        if flags & 1 and row["row"] == "MESSAGE":
            row["index"] = struct.unpack("<i", r.take(4))[0]
    for row in rows:
        if flags & 2 and row["row"] == "UNMATCHED":
            row["thread"] = struct.unpack("<i", r.take(4))[0]
    for _ in range(others):
        number, kind, scope, a, b, c, order = struct.unpack("<IIIiiQQ", r.take(36))
        need(number <= len(rows) and kind < 512, "an OTHER row is bad")
        rows.insert(number, other((kind & 255, 0, 0, scope, a, b, c), order, kind >> 8))
    return site, rows


def predicted(r, count):
    """A column LP."""
    values, last, before = [], 0, 0
    for _ in range(count):
        last, before = r.svarint() + 2 * last - before & MASK, last
        values.append(last)
    return values


def rising(r, count, limit, what):
    values = predicted(r, count)
    need(all(x < y for x, y in zip(values, values[1:])) and all(x < limit for x in values), what + " do not rise, or too far")
    return values


def clocks(r, ranks):
    values, clock = [], 0
    for rank in ranks:
        clock = clock + r.svarint() & MASK
        values.append((rank, clock))
    return values


def moved(indices, delays, count):
    order = list(range(count))
    for index, delay in zip(indices, delays):
        at = order.index(index)
        order.pop(at)
        need(delay and 0 <= at + delay < count, "a move out of the table")
        order.insert(at + delay, index)
    return order


def cdc_table(r):
    site, entries, others, moves, with_next, polls, epoch, late, indices, threads = (r.varint() for _ in range(10))
    need(others <= entries, "more OTHER rows than entries")
    t = {"site": site, "entries": entries, "messages": entries - others}
    moved_ones = rising(r, moves, t["messages"], "moves")
    t["order"] = moved(moved_ones, [r.svarint() for _ in range(moves)], t["messages"])
    t["with_next"] = rising(r, with_next, entries - 1, "entries of one call")
    at = predicted(r, polls)
    need(at == sorted(at) and all(entry <= entries for entry in at), "polls do not rise, or too far")
    t["unmatched"] = [[entry, r.varint(), 0] for entry in at]
    t["epoch"] = clocks(r, rising(r, epoch, 1 << 31, "ranks"))
    t["late"] = clocks(r, predicted(r, late))
    t["indices"] = [(number, r.svarint()) for number in rising(r, indices, t["messages"], "indices")]
    for number in rising(r, threads, polls, "threads"):
        t["unmatched"][number][2] = r.varint()
    at = rising(r, others, entries, "OTHER rows")
    kinds = list(r.take(others))
    scopes = [r.varint() for _ in kinds]
    a, b = ([r.svarint() for _ in kinds] for _ in range(2))
    c = posts_of(r, kinds)
    orders = iter(predicted(r, sum(kind in (THREAD_EVENT, TURN) for kind in kinds)))
    events = zip(kinds, kinds, kinds, scopes, a, b, c)
    t["others"] = [(entry, other(event, next(orders) if event[0] in (THREAD_EVENT, TURN) else 0)) for entry, event in zip(at, events)]
    return t


def rows_chunk(codec, payload, items):
    """The events that it reaches to, and its tables."""
    r = Reader(payload)
    events, length = r.varint(), r.varint()
    body = payload[r.at:] if codec == 3 else zlib.decompress(payload[r.at:])
    need(len(body) == length and items <= 1 << 20, "rows of another length than they say")
    r = Reader(body)
    tables = [cdc_table(r) if codec == 5 else raw_table(r) for _ in range(r.varint())]
    need(r.done(), "rows are too long")
    need(items == sum(t["entries"] + len(t["unmatched"]) if codec == 5 else len(t[1]) for t in tables), "not as many rows as it says")
    return events, tables


def check_tables(tables, sites_known, ranks):
    """Sites and senders are there; of cdc, late messages are those that are not above the epoch lines before."""
    line = {}
    for t in tables:
        is_cdc = isinstance(t, dict)
        senders = [rank for rank, _ in t["epoch"] + t["late"]] if is_cdc else [row["sender"] for row in t[1] if row["row"] == "MESSAGE"]
        need((t["site"] if is_cdc else t[0]) < len(sites_known) and all(0 <= sender < ranks for sender in senders), "a site or a sender that is not there")
        if is_cdc:
            need(all(clock <= line.get(rank, -1) for rank, clock in t["late"]), "a late message that is not")
            for rank, clock in t["epoch"]:
                need(clock > line.get(rank, -1) or any(rank == sender for sender, _ in t["late"]), "an epoch line falls without late messages")
                line[rank] = max(clock, line.get(rank, -1))


def begins_call(event, last):
    if event[1] != last[1]:
        return True
    if event[0] == CLOCK:
        return last[0] == CLOCK and last[3] % (1 << 31) != event[3] % (1 << 31) + 1
    if event[0] == NEXT:
        return event[2] > 0 or last[0] not in (YES, NEXT)
    return event[2] > 0 or last[0] == CLOCK if event[0] in (MATCH, CANCELLED, UNSENT, FREED) else True


def rows_of_call(call):
    told = [event for event in call if event[0] == CLOCK]
    received = [event for event in call if event[0] in (RECV, MATCH) and event[4] >= 0]
    notes = [event for event in call if event[0] not in (YES, NEXT, CLOCK) and not (event in received and len(received) <= len(told))]
    answer = []
    for event in call:
        if event[0] not in (YES, NEXT):
            continue
        is_told = bool(told) and (event[4] < 0 or told[0][5] == event[4])
        if not is_told or event[0] == YES and event[6]:
            answer.append(other(event))
        if is_told and event[4] >= 0:
            answer.append(message(told[0][4], told[0][6], told.pop(0)[5]))
    answer += [message(event[4], event[6], event[5]) for event in told]
    for row in answer[:-1]:
        row["with_next"] = 1
    return [(call[0][1], row) for row in [other(event) for event in notes] + answer]


def rows_of(events):
    """(site, row) of all calls that are whole."""
    rows, call = [], []
    for event in events:
        if call and begins_call(event, call[-1]):
            rows += rows_of_call(call)
            call = []
        if event[0] == NO:
            rows.append((event[1], unmatched(event[6], event[4])))
        elif event[0] in (PROBE, ERROR, THREAD_EVENT, TURN, VALUE):
            rows.append((event[1], other(event)))
        else:
            call.append(event)
            if event[0] == CLOCK and event[3] % (1 << 31) == 0:
                rows += rows_of_call(call)
                call = []
    is_cut = call and (call[0][0] == YES and call[0][5] - 1 > sum(event[0] == NEXT for event in call) or call[-1][0] == CLOCK)
    return rows + (rows_of_call(call) if call and not is_cut else [])


def split(rows):
    tables, entries = {}, 0
    for site, row in rows:
        table = tables.setdefault(site, [])
        if row["row"] == "UNMATCHED":
            behind = len(table) - next((i for i, before in enumerate(reversed(table)) if before["row"] != "UNMATCHED"), len(table))
            same = [before for before in table[behind:] if before["thread"] == row["thread"]]
            if same:
                same[0]["count"] += row["count"]
            else:
                table.append(row)
            continue
        if row["row"] == "OTHER" and row["event"] in (THREAD_EVENT, TURN):
            row["order"] = entries
        entries += 1
        table.append(row)
    return list(tables.items())


def signed64(value):
    return (value + (1 << 63) & MASK) - (1 << 63)


def fields_of(row, with_next=False):
    if row["row"] == "UNMATCHED":
        return ["count=%d" % signed64(row["count"])] + ["thread=%d" % row["thread"]] * bool(row["thread"])
    if row["row"] == "MESSAGE":
        return ["sender=%d" % row["sender"], "clock=%d" % row["clock"], "index=%d" % row["index"], "with_next=%d" % row["with_next"]]
    texts = ["event=" + NAMES[row["event"]]] + ["%s=%d" % (name, row[name]) for name in ("scope", "a", "b")] + ["c=%d" % signed64(row["c"])]
    return texts + ["order=%d" % row["order"]] * (row["event"] in (THREAD_EVENT, TURN)) + ["with_next=%d" % row["with_next"]] * with_next


def lines_of_cdc(t):
    yield "TABLE", ["entries=%d" % t["entries"], "messages=%d" % t["messages"]]
    yield from (("ORDER", ["message=%d" % i, "place=%d" % place]) for i, place in enumerate(t["order"]) if i != place)
    yield from (("WITH_NEXT", ["entry=%d" % entry]) for entry in t["with_next"])
    yield from (("UNMATCHED", ["entry=%d" % entry] + fields_of(unmatched(count, thread))) for entry, count, thread in t["unmatched"])
    yield from (("OTHER", ["entry=%d" % entry] + fields_of(row)) for entry, row in t["others"])
    yield from (("INDEX", ["message=%d" % number, "index=%d" % index]) for number, index in t["indices"])
    yield from (("EPOCH", ["sender=%d" % rank, "clock=%d" % clock]) for rank, clock in t["epoch"])
    yield from (("LATE", ["sender=%d" % rank, "clock=%d" % clock]) for rank, clock in t["late"])


def print_tables(rank, tables, sites_known):
    number = 0
    for t in tables:
        is_cdc = isinstance(t, dict)
        site = t["site"] if is_cdc else t[0]
        place = "%s site=%d" % (sites_known[site][0], site)
        for kind, fields in lines_of_cdc(t) if is_cdc else ():
            print(rank, number, kind, place, *fields)
        number += is_cdc
        for row in () if is_cdc else t[1]:
            print(rank, number, row["row"], place, *fields_of(row, True))
            number += 1


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
        following = (event for block in chunks[number:] for event in block if event[0] not in WITHOUT_POSTS)
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
    """The chunks one after another: (kind, codec, goes on, items, length, offset, payload)."""
    at, events, sites_before, rows = 64, 0, 0, 0
    while at + 24 <= len(data):
        magic, kind, codec, flags, zero, items, length, crc, own = struct.unpack_from("<2sBBHHIIII", data, at)
        first = {1: events, 2: sites_before, 3: events, 6: rows}.get(kind, 0)
        need(magic == b"RK" and crc32c(data[at:at + 20] + struct.pack("<Q", first)) == own, "the header of a chunk is damaged")
        need(zero == 0 and flags < 4 and length <= 1 << 26, "the header of a chunk is wrong")
        need(kind in range(1, 8) or flags & 1, "a chunk of an unknown kind")
        payload = data[at + 24:at + 24 + length]
        if len(payload) < length:
            break
        need(crc32c(payload) == crc, "a chunk is damaged")
        need(kind == 1 or codec in ((3, 4, 5) if kind == 6 else (0,)) and flags & 2 == 0, "a chunk has another codec than it may")
        yield kind, codec, flags & 2 != 0, items, length, at, payload
        events += items if kind == 1 else 0
        sites_before += items if kind == 2 else 0
        rows += items if kind == 6 else 0
        at += 24 + length


def check_index(data, chunks):
    if data[-8:] != b"RPRINDEX":
        return
    offset = struct.unpack("<Q", data[-16:-8])[0]
    need(chunks and chunks[-1][0] == 5 and chunks[-1][5] == offset, "the trailer does not point at the index")
    need(offset + 24 + chunks[-1][4] + 16 == len(data), "the trailer does not follow the index")
    r = Reader(chunks[-1][6])
    for kind, _, _, items, length, _, _ in chunks[:-1]:
        need((r.byte(), r.varint(), r.varint()) == (kind, items, length), "the index is wrong")
    need(r.done() and chunks[-1][3] == len(chunks) - 1, "the index is too long")


def events_of(chunks):
    """Section 3: the events of EVENTS chunks, (codec, goes on, items, payload) each."""
    mix, before, afresh = None, None, 0
    for codec, goes_on, items, payload in chunks:
        need(1 <= items <= 65536 and codec in (1, 2), "an EVENTS chunk of an unknown kind")
        need(not goes_on or codec == before == 2, "an EVENTS chunk goes on from nothing")
        if codec == 1:
            yield columns(unzstd(payload), items)
        else:
            if not goes_on:
                mix, afresh = Mix(), 0
            yield mix.chunk(payload, items)
            afresh += items
            need(afresh <= 262144, "codec mix goes on for too long")
        before = codec


def from_ring(path, run, rank, first):
    """Section 8: events from `first` on that are in the ring alone, and their times, if they have any."""
    data = open(path, "rb").read()
    magic, major, _, capacity, ring_run, ring_rank, stream, features = struct.unpack_from("<8sHHIQIII", data)
    need(magic == b"\x89RPRRNG\n" and major == 1 and (ring_run, ring_rank, stream) == (run, rank, 0), "not the ring of this rank")
    need(crc32c(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the ring's header is damaged")
    head, tail, open_at = (struct.unpack_from("<Q", data, at)[0] for at in (64, 128, 192))
    need(tail <= head and first <= head <= first + capacity, "the ring does not fit the log")
    events = [struct.unpack_from("<IIIIiiQ", data, 4096 + 32 * (i % capacity)) for i in range(first, head)]
    times = [struct.unpack_from("<Q", data, 4096 + 32 * capacity + 8 * (i % capacity))[0] for i in range(first, head)] if features & 1 else []
    for back in range(1, len(events) + 1):
        event = events[-back]
        if event[0] == 4 and event[5] > back:
            return events[:-back], times[:-back]
        if event[0] != 5:
            break
    runs = [struct.unpack_from("<IIIIiiQ", data, 256 + 32 * i) for i in range(16)] if open_at == head else []
    runs = [run for run in runs if run[0] == 3 and run[6]]
    times += [0] * (len(runs) if features & 1 else 0)
    return events + [run[:5] + (len(runs) - 1 - i, run[6]) for i, run in enumerate(runs)], times


def read_log(directory, run, rank, ranks):
    data = open(os.path.join(directory, "rank-%05d.log" % rank), "rb").read()
    magic, major, _, features, log_run, log_rank, log_ranks = struct.unpack_from("<8sHHIQII", data)
    need(magic == b"\x89RPRLOG\n" and major == 1 and features < 4, "not a log of version 1")
    need(crc32c(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the log's header is damaged")
    need((log_run, log_rank, log_ranks) == (run, rank, ranks), "the log of another run or rank")
    chunks = list(walk(data))
    check_index(data, chunks)
    modules, table, blocks, late, told, ended, tables, covered, times = [], [], [], [], [], None, [], 0, []
    decoded = events_of([(codec, goes_on, items, payload) for kind, codec, goes_on, items, _, _, payload in chunks if kind == 1])
    for kind, codec, _, items, _, _, payload in chunks:
        if kind == 1:
            blocks.append(next(decoded))
            told.append(late)
            late = []
        elif kind == 2:
            before = len(table)
            sites(payload, modules, table)
            need(len(table) == before + items, "a SITES chunk with another number of sites")
        elif kind == 3:
            r = Reader(payload)
            late = [(r.varint(), r.byte(), r.svarint(), r.svarint()) for _ in range(items)]
            need(r.done() and items > 0, "a LATE chunk is bad")
        elif kind == 4:
            r = Reader(payload)
            ended = (r.byte(), r.svarint(), r.u64(), r.u64(), r.u64())
            need(r.done() and items == 0, "an END chunk is bad")
        elif kind == 7:
            r = Reader(payload)
            times += itertools.accumulate(r.varint() for _ in range(items))
            need(r.done(), "a TIMES chunk is bad")
        elif kind == 6:
            before, (covered, more) = covered, rows_chunk(codec, payload, items)
            need(features & 1 and covered >= before, "rows that should not be here")
            tables += more
            blocks = []  # their events are in the rows
    if features & 1:
        check_tables(tables, table, ranks)
        if ended:
            need(ended[2] == covered, "END tells of other events than the rows")
        else:
            rest = [event for block in blocks for event in block]
            rest += from_ring(os.path.join(directory, "rank-%05d.0.ring" % rank), run, rank, covered + len(rest))[0]
            tables += split(rows_of(rest))
        return None, tables, table, []
    need(told == late_of(blocks), "late matches are not those of section 5")
    events = [event for block in blocks for event in block]
    if ended:
        need(ended[2:] == (len(events), receives(events), digest(events)), "END tells of other events")
    else:
        more, more_times = from_ring(os.path.join(directory, "rank-%05d.0.ring" % rank), run, rank, len(events))
        events += more
        times += more_times
    need(len(times) in (0, len(events)), "another number of times than of events")
    return events, [], table, list(itertools.accumulate(times, max))


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
    with open(path if os.path.exists(path) else os.path.join(directory, "incomplete"), "rb") as file:
        text = file.read()
    before = text.rfind(b',\n  "crc32c": "')
    need(before > 0 and text[before:] == b',\n  "crc32c": "%08x"\n}\n' % crc32c(text[:before]), "the manifest was changed")
    manifest = json.loads(text.decode("utf-8"))
    need(manifest["format"] == "reprise-run" and manifest["major"] == 1, "not a record of version 1")
    for rank in range(manifest["ranks"]):
        events, tables, table, times = read_log(directory, int(manifest["run"], 16), rank, manifest["ranks"])
        if events is None:
            print_tables(rank, tables, table)
            continue
        for number, event in enumerate(events):
            print(line(rank, number, event, table) + (" time=%d" % times[number] if times else ""))


main()
