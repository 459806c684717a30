#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the functions that a library refuses, as strings of C, for src/cli/refused_calls.c. It need
not refuse what libreprise-compound.so makes of others.

usage: refused.py FUNCTIONS_TABLE LIBRARY    (known: all functions of the table instead)
"""
import sys

from table import Table

if __name__ == "__main__":
    for name, row in Table(sys.argv[1]).rows.items():
        is_refused = row.cells.get(sys.argv[2]) == "refuse" and row.cells["compound"] in ("-", "use", "use_c")
        if sys.argv[2] == "known" or is_refused:
            print(f"\"{name}\",")
