# SPDX-License-Identifier: MIT
# Python by mpi4py: a master that receives pickled objects from anyone, a ring of Waitany, a probe loop. Its own tests are not packaged; its benchmarks are.
packages=(python3-mpi4py)
inputs() {
    cp "$programs/mpi4py_snippets.py" snippets.py
    cp "$programs/mpi4py_pool.py" pool.py
}
app() {
    flags=(--mpi openmpi)
    try 'mpi4py snippets' openmpi 4 /usr/bin/python3 snippets.py
    try 'mpi4py futures' openmpi 3 /usr/bin/python3 -m mpi4py.futures pool.py
    try 'mpi4py futures by spawn' openmpi 1 /usr/bin/python3 pool.py
}
