#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of bench/run overhead from its raw measurements, one a line, fields separated by tabs:

    case NAME GROUP TITLE MINUS
    count MPI CASE MODE ITERATIONS INSTRUCTIONS EVENTS
    time MPI WHAT MODE ROUND TIME
    memory MPI EVENTS MODE KIB
"""
import statistics
import sys

TARGETS = {
    "insn_event": 150, "insn_idle": 30, "pp8": 1.05, "pp1m": 1.01, "ppany8": None, "particles_record": 1.02, "particles_replay": 1.10,
    "masterworker_record": 1.10, "masterworker_replay": 1.10, "mem_mib": 8,
}
keys = {}


def verdict(name, value):
    target = TARGETS.get(name)
    return "" if target is None else f"<= {target:g} {'met' if value <= target else 'MISSED'}"


def read(path):
    raw = {"case": [], "count": [], "time": [], "memory": []}
    for line in open(path):
        kind, *fields = line.rstrip("\n").split("\t")
        raw[kind].append(fields)
    return raw


# Instructions


def slopes(rows):
    """{(mpi, case): (instructions added, events) an iteration}: constants cancel between the two numbers of iterations."""
    points = {}
    for mpi, case, mode, iterations, instructions, events in rows:
        points.setdefault((mpi, case, mode), []).append((int(iterations), int(instructions), int(events)))
    per = {}
    for key, two in points.items():
        (i1, n1, e1), (i2, n2, e2) = sorted(two)
        per[key] = ((n2 - n1) / (i2 - i1), (e2 - e1) / (i2 - i1))
    return {(mpi, case): (per[mpi, case, "record"][0] - cost, per[mpi, case, "record"][1])
            for (mpi, case, mode), (cost, _) in per.items() if mode == "native"}


def print_instructions(raw):
    added = slopes(raw["count"])
    cases = {name: (group, title, minus) for name, group, title, minus in raw["case"]}
    mpis = list(dict.fromkeys(mpi for mpi, _ in added))
    worst = {}
    print("Instructions that recording adds, on the application's thread (callgrind, null MPI)")
    print(f"  {'call':<42}" + "".join(f"{mpi:>10}{'an event':>10}" for mpi in mpis))
    for name, (group, title, minus) in cases.items():
        cells = ""
        for mpi in mpis:
            call, events = added[mpi, name]
            call -= added[mpi, minus][0] if minus != "-" else 0
            each = call / max(1, events)
            cells += f"{call:>10.1f}{each:>10.1f}" if group == "event" else f"{call:>10.1f}{'':>10}"
            worst[group] = max(worst.get(group, (0, "")), (each, f"{title}, {mpi}"))
        print(f"  {title:<42}{cells}   {group}")
    print("  'more' is not in the two figures. A run of 'no' is one event: it is counted per answer.")
    for group in ("event", "idle"):
        value, where = worst[group]
        keys[f"insn_{group}"] = f"{value:.1f}"
        print(f"  insn_{group} = {value:.1f} ({where})  {verdict('insn_' + group, value)}")
    print()


# Times


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    q = statistics.quantiles(values, n=4, method="inclusive")
    return q[0], q[2]


def compare(times, mode):
    """Paired within a round, since the machine's load drifts."""
    rounds = sorted(times["native"])
    pairs = [times[mode][r] / times["native"][r] for r in rounds]
    low, high = quartiles(pairs)
    ratio = statistics.median(times[mode].values()) / statistics.median(times["native"].values())
    return statistics.median(pairs), ratio, low, high


def collect(rows):
    times = {}
    for mpi, what, mode, number, time in rows:
        times.setdefault((what, mpi), {}).setdefault(mode, {})[int(number)] = float(time)
    return times


def print_row(what, mpi, modes, mode, name):
    pair, ratio, low, high = compare(modes, mode)
    native = statistics.median(modes["native"].values())
    unit = "us" if what.startswith("pp") else "s"
    native /= 1 if unit == "us" else 1e6
    print(f"  {what:<14}{mpi:<9}{mode:<14}{len(modes[mode]):>3}{native:>12.3f} {unit:<3}{pair:>8.3f}   {low:.3f}..{high:.3f}"
          f"{ratio:>9.3f}   {verdict(name, pair)}")
    return pair


def print_times(raw):
    times = collect(raw["time"])
    print("Times over native, interleaved. Ping-pong: half a round trip, fastest tenth of short batches. Applications: the whole command, start-up included,")
    print("8 ranks. Keys are medians of the ratios within a round.")
    print(f"  {'what':<14}{'MPI':<9}{'mode':<14}{'n':>3}{'native':>12}    {'pairs':>8}   {'quartiles':<12}{'medians':>9}")
    for (what, mpi), modes in times.items():
        for mode in modes:
            if mode == "native":
                continue
            name = what if what.startswith("pp") and mode != "clocks" else f"{what}_{mode}"
            pair = print_row(what, mpi, modes, mode, name if mode != "native-again" else "")
            if mode != "native-again":
                keys[f"{name}_{mpi}"] = f"{pair:.3f}"
            if mode != "native-again" and not what.startswith("pp"):
                keys[name] = max(keys.get(name, "0"), f"{pair:.3f}", key=float)
    print("  'native-again' is native over native: the noise of this machine.\n")


# Memory


def print_memory(raw):
    peaks = {}
    for mpi, events, mode, kib in raw["memory"]:
        peaks.setdefault((mpi, int(events)), {})[mode] = int(kib) / 1024
    print("Peak resident memory of a rank in MiB, one wildcard receive pending all the time")
    print(f"  {'MPI':<9}{'events':>10}{'native':>9}{'record':>9}{'replay':>9}{'adds':>8}{'replay adds':>13}")
    for (mpi, events), peak in peaks.items():
        adds = {mode: peak[mode] - peak["native"] for mode in ("record", "replay")}
        print(f"  {mpi:<9}{events:>10}{peak['native']:>9.1f}{peak['record']:>9.1f}{peak['replay']:>9.1f}{adds['record']:>8.2f}"
              f"{adds['replay']:>13.2f}")
        for key, mode in (("mem_mib", "record"), ("mem_replay_mib", "replay")):
            keys[key] = max(keys.get(key, "0"), f"{adds[mode]:.2f}", key=float)
    print(f"  mem_mib = {keys['mem_mib']}  {verdict('mem_mib', float(keys['mem_mib']))}\n")


def main():
    raw = read(sys.argv[1])
    if raw["count"]:
        print_instructions(raw)
    if raw["time"]:
        print_times(raw)
    if raw["memory"]:
        print_memory(raw)
    print(" ".join(f"{key}={value}" for key, value in keys.items()))


if __name__ == "__main__":
    main()
