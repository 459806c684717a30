# SPDX-License-Identifier: MIT
# ranks: 4
# native: differs
# only: openmpi
# module: mpi4py
# also: solo
# about: mpi4py, which loads MPI late and for itself: pickled and buffer forms, matched probes, non-blocking pickled receives, polls
import array
import os
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
down = os.environ.get("TEST_ORDER") == "down"
notes = []


def pace():
    time.sleep((size - 1 - rank if down else rank) * 0.015)


def pickled(step):
    if rank:
        pace()
        comm.send({"from": rank, "step": step, "more": list(range(rank))}, dest=0, tag=step)
        return
    for _ in range(size - 1):
        status = MPI.Status()
        got = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        assert got["from"] == status.Get_source(), got
        notes.append((got["from"], got["step"], status.Get_tag()))


def buffers(step):
    if rank:
        pace()
        comm.Send(array.array("d", [rank, step]), dest=0, tag=100)
        return
    space = [array.array("d", [0, 0]) for _ in range(size - 1)]
    requests = [comm.Irecv(s, source=MPI.ANY_SOURCE, tag=100) for s in space]
    for _ in range(size - 1):
        status = MPI.Status()
        index = MPI.Request.Waitany(requests, status)
        assert int(space[index][0]) == status.Get_source()
        notes.append((index, list(space[index])))


def matched(step):
    if rank:
        pace()
        comm.send("x" * (rank * 10 + step), dest=0, tag=200)
        return
    for _ in range(size - 1):
        message = comm.mprobe(source=MPI.ANY_SOURCE, tag=200)
        notes.append(len(message.recv()))


def nonblocking(step):
    if rank:
        pace()
        comm.send((rank, step), dest=0, tag=300)
        return
    for _ in range(size - 1):
        request, polls = comm.irecv(source=MPI.ANY_SOURCE, tag=300), 0
        while True:
            done, got = request.test()
            if done:
                break
            polls += 1
        notes.append((got, polls))


for step in range(4):
    pickled(step)
    comm.Barrier()
    buffers(step)
    matched(step)
    nonblocking(step)
if rank == 0:
    value = 0
    for note in repr(notes).encode():
        value = (value * 1000003 ^ note) & 0xFFFFFFFFFFFFFFFF
    print("RESULT hash=%016x" % value)
    sys.stdout.flush()
