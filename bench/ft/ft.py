#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What surviving dead ranks costs: bench/run ft [--quick] [PART...].

overhead   programs under `reprise ft`, without failures, against the same MPI without it. What counts is the time of a checkpoint interval, with its checkpoint: the median of those of a run, in which a moment's disturbance does not show. Runs take turns; the ratio is the median of pairs, and its
           quartiles are told. What the start, the setup and the end take more is told by itself. What the logs take.
recovery   from the detection of a failure to the last rank that goes on, without what is computed again.
rollback   iterations of all ranks, and time, for a failure in each iteration of a checkpoint interval: local, hybrid (a log for half an interval) and global rollback (figures 6, 7 and 8 of Dichev and Nikolopoulos, Message Logging Protocols).
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(__file__), "..", "..")
BUILD = os.environ.get("BENCH_BUILD") or os.path.join(TOP, "build")
REPRISE = os.path.join(BUILD, "bin", "reprise")
TARGETS = {"cg": 1.03, "blast": 1.02, "jacobi": 1.02}
# Name, of the program up to a point: arguments, ranks, checkpoint interval
PROGRAMS = {
    "cg": (["--class", "3", "--work", "26"], 2, 5),  # the NAS problem of class A, with more iterations: 132 elements a row
    "cg.thin": (["--size", "60000", "--work", "16"], 2, 5),  # our own matrix, with 64: less to compute for each byte that is sent
    "blast": (["--size", "61", "--edge", "45"], 2, 20),
    "jacobi": (["--size", "1501", "--edge", "1024"], 2, 500),
}
SMALL = {
    "cg": (["--size", "2000", "--work", "26"], 4, 25),
    "blast": (["--size", "25", "--edge", "12"], 4, 20),
}
# Long enough that what is computed again shows in the time.
LONGER = {
    "cg": (["--size", "14000", "--work", "26"], 4, 25),
    "blast": (["--size", "25", "--edge", "32"], 4, 20),
}


def ulfm():
    tool = os.path.join(TOP, "tools", "ulfm")
    found = subprocess.run([tool, "--find"], capture_output=True, text=True)
    if found.returncode:
        sys.exit("bench: no MPI with ULFM: tools/ulfm --build makes one")
    return found.stdout.strip()


PREFIX = ulfm()
ENVIRONMENT = dict(os.environ, REPRISE_ULFM=PREFIX, LD_LIBRARY_PATH=PREFIX + "/lib", OMPI_MCA_btl="sm,self")


def program(name, table, iterations=None):
    arguments, ranks, interval = table[name]
    arguments = list(arguments)
    if iterations:
        arguments[3 if name.startswith("cg") else 1] = str(iterations)
    return [os.path.join(BUILD, "apps", "openmpi", name.split(".")[0])] + arguments, ranks, interval


def run(command, interval):
    """Seconds, result, and the median of the seconds of so many iterations."""
    start = time.perf_counter()
    done = subprocess.run(command, env=dict(ENVIRONMENT, APP_TIMES=str(interval)), capture_output=True, text=True)
    seconds = time.perf_counter() - start
    result = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if done.returncode or not result:
        sys.exit(f"bench: {' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    parts = [float(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("time ")]
    return seconds, result[-1], statistics.median(parts) if parts else 0


def native(name, table, iterations=None):
    words, ranks, interval = program(name, table, iterations)
    return run([PREFIX + "/bin/mpirun", "--map-by", ":OVERSUBSCRIBE", "-n", str(ranks)] + words, interval)


def survive(name, table, *options, iterations=None):
    """Seconds, result, the median of the seconds of an interval, and events."""
    words, ranks, interval = program(name, table, iterations)
    with tempfile.TemporaryDirectory() as folder:
        seconds, result, part = run([REPRISE, "ft", "--interval", str(interval), "-o", folder, *options, "mpirun", "-n", str(ranks)] + words, interval)
        events = [json.loads(line) for line in open(folder + "/events.jsonl")]
    return seconds, result, part, events


def overhead(quick, keys):
    print(f"{'':8} {'native':>10} {'ft':>10} {'ratio':>6} {'quartiles':>13}  target  start and end take more; log, the most in a rank")
    for name in PROGRAMS:
        pairs, peak = [], 0
        starts = [(native(name, PROGRAMS, 1)[0], survive(name, PROGRAMS, iterations=1)[0]) for _ in range(3 if quick else 7)]
        plain_start, ft_start = (statistics.median(column) for column in zip(*starts))
        for _ in range(5 if quick else 31):
            _, expected, plain = native(name, PROGRAMS)
            _, result, with_ft, events = survive(name, PROGRAMS)
            if result.split()[-1] != expected.split()[-1]:
                sys.exit(f"bench: {name}: {result} instead of {expected}")
            pairs.append((plain, with_ft))
            peak = max(event["log_peak"] for event in events if event["event"] == "finished")
        low, ratio, high = statistics.quantiles([b / a for a, b in pairs], n=4)
        plain, with_ft = (1e3 * statistics.median(column) for column in zip(*pairs))
        interval, verdict = PROGRAMS[name][2], "" if name not in TARGETS else "met" if ratio <= TARGETS[name] else "MISSED"
        print(f"{name:8} {plain:7.1f} ms {with_ft:7.1f} ms {ratio:6.3f} {low:6.3f} {high:6.3f}  {TARGETS.get(name, '-'):>6}  {1e3 * (ft_start - plain_start):.0f} ms; {peak / 1024:.0f} KiB, about {peak / interval / 1024:.1f} KiB an iteration   {verdict}", flush=True)
        if name in TARGETS:
            keys["hydro" if name == "blast" else name] = f"{ratio:.3f}"


def recovery(quick, keys):
    times = []
    for i in range(3 if quick else 15):
        *_, events = survive("blast", SMALL, "--kill", f"{i % 4}@{3 + i % 17}:{i % 9}")
        times += [max(event["milliseconds"] for event in events if event["event"] == "resumed")]
    print(f"recovery: median {statistics.median(times):.1f} ms, most {max(times):.1f} ms in {len(times)} failures (4 ranks on {os.cpu_count()} cores; target: less than 100 ms)")
    keys["recovery_ms"] = f"{statistics.median(times):.1f}"


def summed(events):
    return sum(event["iterations"] for event in events if event["event"] in ("finished", "killed"))


def rollback(quick, _keys):
    for name in LONGER:
        ranks, interval = LONGER[name][1], LONGER[name][2]
        _, expected, *_ = survive(name, LONGER)
        print(f"{name}, {ranks} ranks, a failure of rank 1 in iteration i of a checkpoint interval of {interval}: iterations of all ranks (and seconds)")
        print(f"{'i':>4} {'local':>16} {'hybrid':>16} {'global':>16}")
        for iteration in range(0, interval, 6 if quick else 2):
            row = []
            for options in ([], ["--capacity-iterations", str(interval // 2)], ["--capacity", "1"]):
                seconds, result, _, events = survive(name, LONGER, "--kill", f"1@{iteration}:5", *options)
                if result != expected:
                    sys.exit(f"bench: {name}, failure in {iteration}: {result} instead of {expected}")
                way = {event["rollback"] for event in events if event["event"] == "replaced"}
                row.append(f"{summed(events)} {'/'.join(w[0] for w in way)} ({seconds:.2f})")
            print(f"{iteration:>4} {row[0]:>16} {row[1]:>16} {row[2]:>16}", flush=True)


def main():
    parts = {"overhead": overhead, "recovery": recovery, "rollback": rollback}
    wanted = [word for word in sys.argv[1:] if word != "--quick"] or list(parts)
    for part in wanted:
        if part not in parts:
            sys.exit(f"bench: ft has no part '{part}': {', '.join(parts)}")
    keys = {}
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    for part in wanted:
        parts[part]("--quick" in sys.argv, keys)
    print(" ".join(f"{key}={value}" for key, value in keys.items()))


if __name__ == "__main__":
    main()
