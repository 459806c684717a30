#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of bench/run codec, from the lines of codec_bench.c. A receive is a message that a call completed; a row is a line of the clock delta compression
paper's table (a receive, or a number of polls in a row that answered no) or what that table has no line for (a completed send, a probe); an event is what
reprise records."""
import sys

streams, parts = {}, {}
for line in open(sys.argv[1]):
    name, kind, codec, *rest = line.rstrip("\n").split("\t")
    if kind == "codec":
        streams.setdefault(name, {})[codec] = [float(x) for x in rest]
    else:
        parts.setdefault((name, codec), []).append((rest[0], int(rest[1])))

keys = {}
print(f"{'stream':<14}{'codec':<8}{'bytes':>12}{'a receive':>11}{'a row':>9}{'an event':>10}{'enc M/s':>9}{'dec M/s':>9}")
for name, codecs in streams.items():
    for codec, (events, rows, receives, size, encode, decode) in codecs.items():
        speed = [f"{events / t / 1e6:9.2f}" if t else f"{'-':>9}" for t in (encode, decode)]
        print(f"{name:<14}{codec:<8}{size:12.0f}{size / max(receives, 1):11.4f}{size / max(rows, 1):9.4f}{size / max(events, 1):10.4f}{''.join(speed)}")
    events, rows, receives = next(iter(codecs.values()))[:3]
    print(f"{'':<14}{events:.0f} events, {rows:.0f} rows, {receives:.0f} receives\n")
print("Parts, in bytes: of raw, gzip and cdc before zlib; of mix what their bits cost")
for (name, codec), sizes in parts.items():
    print(f"  {name:<14}{codec:<8}" + "  ".join(f"{part} {size}" for part, size in sizes if size))

for name, codecs in streams.items():
    for codec in ("mix", "cdc", "gzip", "raw"):
        events, rows, receives, size = codecs[codec][:4]
        keys[f"{codec}_{name}"] = size / max(receives, 1)
        if codec == "mix":
            keys[f"mix_{name}_event"] = size / max(events, 1)
total = [sum(codecs["mix"][i] for codecs in streams.values()) for i in (0, 4, 5)]
keys["enc_mev"], keys["dec_mev"] = total[0] / total[1] / 1e6, total[0] / total[2] / 1e6
keys["worst_mix_over_cdc"] = max(codecs["mix"][3] / codecs["cdc"][3] for codecs in streams.values())
keys["worst_mix_over_zstd19"] = max(codecs["mix"][3] / codecs["zstd19"][3] for codecs in streams.values())
for short in ("mix", "cdc", "gzip", "raw"):
    if f"{short}_particles8" in keys:
        keys[f"{short}_particles"] = keys[f"{short}_particles8"]
print()
print(" ".join(f"{key}={value:.4g}" for key, value in keys.items()))
