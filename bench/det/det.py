#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of bench/run det from its raw measurements, one a line, fields separated by tabs:

    time MPI APP RANKS MODE ROUND MICROSECONDS PEAK_KIB MATCHES ANSWERS

MODE is native, det, ticks (an instrumented program, natively) or ticks-det.
"""
import statistics
import sys

KERNELS = ("cg", "ep", "ft", "is", "lu", "mg", "polls")


def read(path):
    runs = {}
    for line in open(path):
        _, mpi, app, ranks, mode, number, time, peak, matches, answers = line.rstrip("\n").split("\t")
        run = runs.setdefault((app, int(ranks), mpi), {}).setdefault(mode, {})
        run[int(number)] = (float(time), float(peak), int(matches or 0), int(answers or 0))
    return runs


def ratio(modes, mode, which):
    """Paired within a round, since the machine's load drifts."""
    return statistics.median(modes[mode][r][which] / modes["native"][r][which] for r in modes["native"])


def main():
    runs = read(sys.argv[1])
    kernels, memory, masters = {}, 0, {}
    print("Deterministic over native, interleaved, whole commands: median of the ratios within a round")
    print(f"  {'app':<14}{'ranks':>5} {'MPI':<9}{'mode':<10}{'native s':>9}{'time':>8}{'memory':>8}{'matches':>9}{'answers':>9}")
    for (app, ranks, mpi), modes in runs.items():
        native = statistics.median(time for time, *_ in modes["native"].values()) / 1e6
        for mode in modes:
            if mode == "native":
                continue
            time, peak, last = ratio(modes, mode, 0), ratio(modes, mode, 1), next(iter(modes[mode].values()))
            print(f"  {app:<14}{ranks:>5} {mpi:<9}{mode:<10}{native:>9.2f}{time:>8.3f}{peak:>8.3f}{last[2]:>9}{last[3]:>9}")
            if app in KERNELS and mode == "det":
                kernels.setdefault(ranks, []).append(time)
                memory = max(memory, peak)
            if app in ("masterworker", "tinytasks"):
                name = f"{app}{ranks}" + ("" if mode == "ticks-det" else f"_{mode}")
                masters[name] = max(masters.get(name, 0), time)
    keys = {}
    for ranks, times in kernels.items():
        print(f"  kernels with {ranks} ranks: mean {statistics.mean(times):.3f}, worst {max(times):.3f}")
    if 8 in kernels:
        keys = {"det_mean": statistics.mean(kernels[8]), "det_worst": max(kernels[8]), "det_memory": memory}
    print(" ".join(f"{key}={value:.3f}" for key, value in {**keys, **masters}.items()))


if __name__ == "__main__":
    main()
