# SPDX-License-Identifier: MIT
"""usage: TEXT JSON: dump and dump --json tell the same."""
import json, sys
text = [line.split() for line in open(sys.argv[1])]
data = [json.loads(line) for line in open(sys.argv[2])]
assert len(text) == len(data) > 0
for words, event in zip(text, data):
    assert words[:4] == [str(event["rank"]), str(event["event"]), event["kind"], event["function"]], (words, event)
    fields = dict(word.split("=") for word in words[4:] if not word.startswith("at="))
    assert int(fields["site"]) == event["site"]
    for name, value in fields.items():
        assert int(value, 16 if name == "identity" else 10) == event[name], (name, words, event)
    assert not {"a", "b", "c"} & set(event)
