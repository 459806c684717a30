#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What counting costs, from the raw measurements of bench/run ticks, one a line, fields separated by tabs:

    count WAY KERNEL MODE INSTRUCTIONS
    time WAY KERNEL MODE CHECKSUM SECONDS
"""
import statistics
import sys

TARGET = 1.10
counts, times, sums = {}, {}, {}
for line in open(sys.argv[1]):
    kind, way, kernel, mode, *fields = line.rstrip("\n").split("\t")
    if kind == "count":
        counts[way, kernel, mode] = int(fields[0])
    else:
        times.setdefault((way, kernel, mode), []).append(float(fields[1]))
        sums.setdefault((way, kernel), set()).add(fields[0])

keys = {}
print(f"{'':8} {'kernel':8} {'-O2':>9} {'counted':>9} {'time':>6} {'fastest':>8} {'instructions':>13}   target {TARGET:g}")
for way, kernel in dict.fromkeys((way, kernel) for way, kernel, _ in times):
    plain, counted = times[way, kernel, "plain"], times[way, kernel, "counted"]
    ratio = statistics.median(counted) / statistics.median(plain)
    fastest = min(counted) / min(plain)
    instructions = counts[way, kernel, "counted"] / counts[way, kernel, "plain"]
    print(f"{way:8} {kernel:8} {statistics.median(plain) * 1e3:6.1f} ms {statistics.median(counted) * 1e3:6.1f} ms {ratio:6.2f} {fastest:8.2f} {instructions:13.3f}   {'met' if ratio <= TARGET else 'MISSED'}")
    keys[f"{way}_{kernel}"] = f"{ratio:.2f}"
    keys[f"{way}_{kernel}_insn"] = f"{instructions:.3f}"
for (way, kernel), values in sums.items():
    if len(values) > 1:
        sys.exit(f"{way}: {kernel} computes something else when it is counted: {values}")
print(" ".join(f"{key}={value}" for key, value in keys.items()))
