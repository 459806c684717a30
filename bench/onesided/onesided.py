#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to record the data of ranks, so that they can be replayed alone.

usage: onesided.py BUILD MPIS QUICK [split] [tracked] [gcc] [calls] [twosided]

Each app runs with 8 ranks: as it is, and recorded with sets of 1, 2 and 4 ranks, one after another in rounds; a figure is the median of the ratios of the rounds. Times are those of the whole job, without its start:
the time of the same program with next to nothing to do is taken off. 'tracked' are the one-sided apps once more, compiled by `reprise-cc --track` with clang, against the same compiled by clang; 'gcc' are those by gcc; 'unrecorded' is such a program without reprise; 'calls' are the same by `--track=calls` with clang, which is not measured unless it is asked for. Two-sided apps are compared with a recording without a set; 'outside' is a recording whose set has no rank of the job. Of two-sided apps a second figure takes the bytes off: to the time without a set is added what it takes to write the bytes of the data logs alone (databytes.c), its processor time shared out to all processors, which is the least that it can add. The last line is key=value pairs.
"""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
ONE_SIDED = {"laplace": ["--edge", "256", "--size"], "gups": ["--size"], "steal": ["--root", "400", "--size", "194", "--work"], "hashtable": ["--slots", "262144", "--size"]}
TWO_SIDED = {"particles": ["--size"], "halo": ["--size"], "cg": ["--work", "24", "--size"], "is": ["--work", "8", "--size"]}
SIZES = {  # much, little: for Open MPI and MPICH, whose one-sided calls wait for the other side's time slice
    "openmpi": {"laplace": (9000, 10), "gups": (1200000, 500), "steal": (120000, 1), "hashtable": (200000, 20), "particles": (60000, 50), "halo": (900, 2), "cg": (12000, 100), "is": (1200000, 1000)},
    "mpich": {"laplace": (60, 5), "gups": (20000, 500), "steal": (40000, 1), "hashtable": (100, 20), "particles": (20000, 50), "halo": (100, 2), "cg": (3000, 100), "is": (200000, 1000)},
}
SETS = {"1": "3", "2": "0,5", "4": "1-3,6"}


def run(words):
    start = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    if done.returncode != 0 or "verified=yes" not in done.stdout:
        sys.exit(f"onesided.py: {' '.join(words)} failed: {done.stderr[-500:]}")
    return time.monotonic() - start


class Bench:
    def __init__(self, build, mpi, rounds, apps, native):
        self.build, self.mpi, self.rounds, self.apps, self.native = build, mpi, rounds, apps, native
        self.place = tempfile.mkdtemp(prefix="reprise-bench.")
        self.data = {}
        self.writing = {}
        libraries = ["-lzstd", "-lz", "-lxxhash", "-lunwind", "-lm", "-lpthread", "-ldl"]
        subprocess.run(["gcc", "-O3", f"-I{TOP}/src", "-o", self.place + "/databytes", HERE + "/databytes.c", build + "/libcore.a"] + libraries, check=True)

    def seconds_of_bytes(self):
        os.mkdir(self.place + "/again")
        done = subprocess.run([self.place + "/databytes", self.place + "/run", self.place + "/again"], stdout=subprocess.PIPE, text=True, check=True)
        shutil.rmtree(self.place + "/again")
        return float(done.stdout.split()[0]) / len(os.sched_getaffinity(0))

    def once(self, app, arguments, mode):
        program = ["mpirun." + self.mpi, "-n", "8", f"{self.native if mode == 'native' else self.apps}/{app}"] + arguments
        if mode in ("native", "unrecorded"):
            return run(program)
        record = [self.build + "/bin/reprise", "record", "-o", self.place + "/run"]
        if mode != "plain":
            record += ["--ranks", SETS.get(mode, "99")]
        seconds = run(record + program)
        logs = glob.glob(self.place + "/run/*.data")
        if logs:
            self.data[app, mode] = sum(os.path.getsize(log) for log in logs + glob.glob(self.place + "/run/*.loads")) // len(logs)
            if app in TWO_SIDED:
                self.writing[app, mode] = self.seconds_of_bytes()
        shutil.rmtree(self.place + "/run")
        return seconds

    def ratios(self, app, options, modes, base, what=""):
        much, little = SIZES[self.mpi][app]
        times = {mode: [] for mode in modes}
        writing = {mode: [] for mode in modes}
        for _ in range(self.rounds):
            for mode in modes:
                empty = self.once(app, options + [str(little)], mode)
                times[mode].append(max(self.once(app, options + [str(much)], mode) - empty, 1e-3))
                writing[mode].append(self.writing.get((app, mode), 0))
        print(f"{self.mpi} {app}{what}: {statistics.median(times[base]):.2f} s {base}", end="")
        found, besides = {}, {}
        for mode in modes:
            if mode != base:
                found[mode] = statistics.median(a / b for a, b in zip(times[mode], times[base]))
                print(f", {mode} {found[mode]:.3f}", end="")
                if (app, mode) in self.data:
                    print(f" ({self.data[app, mode]} bytes a rank)", end="")
                if (app, mode) in self.writing:
                    besides[mode] = statistics.median(a / (b + c) for a, b, c in zip(times[mode], times[base], writing[mode]))
                    print(f" (besides them {besides[mode]:.3f})", end="")
        print(f" (load {os.getloadavg()[0]:.1f})", flush=True)
        return found, besides


def compile_apps(build, mpi, place, compiler, how):
    """The one-sided apps by this compiler, without and with tracking: two folders, or nothing if it cannot."""
    environment = dict(os.environ, OMPI_CC=compiler, MPICH_CC=compiler)
    for folder, words in (("plain", ["mpicc." + mpi]), (how, [build + "/bin/reprise-cc", "--track=" + how, "--mpi=" + mpi])):
        os.makedirs(f"{place}/{folder}", exist_ok=True)
        for app in ONE_SIDED:
            words_of_app = ["-O2", "-g", "-I" + TOP + "/apps", "-I" + TOP + "/include", f"{TOP}/apps/onesided/{app}.c", TOP + "/apps/app.c", build + "/lib/libreprise.a", "-o", f"{place}/{folder}/{app}", "-lm", "-ldl"]
            done = subprocess.run(words + words_of_app, env=environment, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                print(f"{mpi}: not tracked: {done.stderr.strip()[-300:]}")
                return None
    return place + "/plain", f"{place}/{how}"


def main():
    build, mpis, quick = sys.argv[1], sys.argv[2].split(), sys.argv[3] == "1"
    parts = sys.argv[4:] or ["split", "tracked", "gcc", "twosided"]
    split, tracked, by_gcc, calls, twosided, besides_bytes, outside = [], [], [], [], [], [], []
    for mpi in mpis:
        apps = f"{build}/apps/{mpi}"
        bench = Bench(build, mpi, 3 if quick else 9, apps, apps)
        for app, options in ONE_SIDED.items() if "split" in parts else ():
            found, _ = bench.ratios(app, options, ["native", "none", "1", "2", "4"], "native")
            outside.append(found.pop("none"))
            split += found.values()
        for part, compiler, how, into in (("tracked", "clang", "plugin", tracked), ("gcc", "gcc", "plugin", by_gcc), ("calls", "clang", "calls", calls)):
            folders = compile_apps(build, mpi, bench.place, compiler, how) if part in parts else None
            if not folders:
                continue
            bench.native, bench.apps = folders
            for app, options in ONE_SIDED.items():
                found, _ = bench.ratios(app, options, ["native", "unrecorded", "1", "2", "4"], "native", " " + part)
                found.pop("unrecorded")
                into += found.values()
            bench.native = bench.apps = apps
        for app, options in TWO_SIDED.items() if "twosided" in parts else ():
            found, besides = bench.ratios(app, options, ["plain", "none", "1", "2", "4"], "plain")
            outside.append(found.pop("none"))
            twosided += found.values()
            besides_bytes += besides.values()
        shutil.rmtree(bench.place)
    worst = {"split": split, "tracked": tracked, "twosided": twosided, "outside": outside, "tracked_by_gcc": by_gcc, "twosided_besides_bytes": besides_bytes}
    if calls:
        worst["calls"] = calls
    print(" ".join(f"{name}_worst={max(ratios):.3f}" if ratios else f"{name}_worst=none" for name, ratios in worst.items()))


if __name__ == "__main__":
    main()
