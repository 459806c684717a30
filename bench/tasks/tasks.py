# SPDX-License-Identifier: MIT
"""Figures of `bench/run tasks`, from its raw measurements. What fault tolerance costs without failures is told in instructions; times are medians of the ratios of interleaved rounds."""
import statistics
import sys

rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
figures = {}


def ratio(kind, app, mode, column):
    found = {(r[2], r[3]): float(r[column]) for r in rows if r[0] == kind and r[1] == app}
    rounds = {round for _, round in found}
    return [found[mode, round] / found["plain", round] for round in rounds if (mode, round) in found and found["plain", round] > 0]


counts = {(r[1], r[2]): int(r[3]) for r in rows if r[0] == "count"}
for app, name in (("leanmd", "leanmd"), ("stencil3d", "stencil"), ("hydro", "hydro")):
    for mode in ("partial", "full"):
        processor, wall = ratio("forward", app, mode, 5), ratio("forward", app, mode, 4)
        if not processor or (app, mode) not in counts:
            continue
        one = next(r for r in rows if r[0] == "forward" and r[1] == app and r[2] == mode)
        figures[f"{name}_{mode}"] = counts[app, mode] / counts[app, "plain"]
        print(f"{app:10} {mode:8} instructions over none: {figures[f'{name}_{mode}']:.3f}; processor time {statistics.median(processor):.3f} ({min(processor):.3f} to {max(processor):.3f} in {len(processor)} rounds), elapsed {statistics.median(wall):.3f}; "
              f"{one[6]} messages, {one[7]} bytes of determinants, {one[8]} of log")

added, again = {}, {}
for r in rows:
    if r[0] == "recovery" and r[3] == "killed":
        without = [q for q in rows if q[0] == "recovery" and q[1:3] == r[1:3] and q[3] == "" and q[4] == r[4]]
        if without:
            added.setdefault((r[1], int(r[2])), []).append(float(r[5]) - float(without[0][5]))
            again.setdefault((r[1], int(r[2])), []).append(int(r[6]) - int(without[0][6]))
for (mode, spread), seconds in sorted(added.items()):
    print(f"recovery   {mode:8} R={spread}: a failure adds {statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f} in {len(seconds)} rounds); {statistics.median(again[mode, spread]):.0f} messages were run again")
partial = [statistics.median(s) for (mode, spread), s in sorted(added.items()) if mode == "partial"]
restart = [statistics.median(s) for (mode, _), s in added.items() if mode == "restart"]
if partial and restart and restart[0] > 0:
    figures["recovery_over_restart"] = max(partial) / restart[0]  # of all R the slowest

for r in rows:
    if r[0] == "scale":
        real, model = [int(x) for x in r[3:6]], [int(x) for x in r[6].split()]
        print(f"scale      {r[1]:10} {r[2]:>3} processes: messages {real[0]} (model {model[0]}), remote {real[1]} ({model[1]}), log bytes {real[2]} ({model[2]}, {100 * (model[2] / real[2] - 1):+.2f} %)")
print(" ".join(f"{name}={value:.3f}" for name, value in figures.items()))
