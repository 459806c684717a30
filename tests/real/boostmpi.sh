# SPDX-License-Identifier: MIT
# C++ by Boost.MPI: serialised objects from anyone, of which a receive is a matched probe and more; requests in any order; a reduction of strings by trees of messages.
packages=(libboost-mpi-dev libboost-serialization-dev)
inputs() {
    mpicxx.openmpi -O1 -o objects "$programs/boostmpi_objects.cpp" -lboost_mpi -lboost_serialization >compile.log 2>&1 || cat compile.log >&2
}
app() { try 'boost mpi' openmpi 4 ./objects; }
