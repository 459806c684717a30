# SPDX-License-Identifier: MIT
"""usage: JSON: the recoveries of two deaths."""
import json, sys
run = json.load(open(sys.argv[1]))
assert run["ranks"] == 4
first, second = run["recoveries"]
for incident, rank, iteration in (first, 1, 10), (second, 3, 20):
    death, = incident["deaths"]
    assert (death["rank"], death["iteration"], death["rollback"]) == (rank, iteration, "local")
    assert death["killed"] <= incident["detected"] <= death["replaced"] <= death["restored"] <= death["caught_up"] <= run["microseconds"]
    assert {idle["rank"] for idle in incident["idle"]} == {0, 1, 2, 3} - {rank}
    assert all(incident["detected"] <= idle["since"] < idle["until"] for idle in incident["idle"] if idle["until"] is not None)
