#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the functions that a library refuses, as strings of C, for src/cli/refused_calls.c.

usage: refused.py FUNCTIONS_TABLE LIBRARY    (known: all functions of the table instead)
"""
import sys

from table import Table

if __name__ == "__main__":
    for name, row in Table(sys.argv[1]).rows.items():
        if sys.argv[2] == "known" or row.cells[sys.argv[2]] == "refuse":
            print(f"\"{name}\",")
