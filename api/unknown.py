#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the functions of an mpi.h that functions.table does not have, so that they are refused.

usage: unknown.py FUNCTIONS_TABLE PREPROCESSED_MPI_H
"""
import sys

from header import read_header
from table import Table

if __name__ == "__main__":
    print(" ".join(Table(sys.argv[1]).unknown(read_header(sys.argv[2]))))
