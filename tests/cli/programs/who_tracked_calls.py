# SPDX-License-Identifier: MIT
"""usage: RANKS <LINES: is the writer right of at least 99 of 100 values?"""
import json, sys
ranks, right, wrong, turn = [int(word) for word in sys.argv[1].split(",")], 0, [], 0
for line in map(json.loads, sys.stdin):
    for at in range(0, line["bytes"], 8):
        value, place = int.from_bytes(bytes.fromhex(line["value"])[at:at + 8], "little"), (line["owner"], line["offset"] + at)
        if value == 0 or line["offset"] % 8 or line["bytes"] % 8:
            continue
        turn += place == (3, 8) and line["rank"] == 0
        if place == (3, 8) and line["rank"] != 0:
            continue
        true = 1 + turn % 3 if place == (3, 8) else value % 16 - 1
        if line["writer"] == (true if true in ranks else None):
            right += 1
        else:
            wrong.append((true, line))
for true, line in wrong[:5]:
    print("of rank", true, line, file=sys.stderr)
print(right, "right of", right + len(wrong))
assert right + len(wrong) > 100 and 100 * right >= 99 * (right + len(wrong))
