# SPDX-License-Identifier: MIT
# A master that receives pickled objects from anyone, a ring of Waitany, a probe loop.
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
any_source, any_tag = MPI.ANY_SOURCE, MPI.ANY_TAG


def work(n):
    x = n
    for _ in range(200 * (n % 7)):
        x = (x * 1103515245 + 12345) % 2147483648
    return {"job": n, "value": x}


def master_worker(jobs):
    order = []
    if rank:
        comm.send(None, 0, 1)
        while (job := comm.recv(source=0)) is not None:
            comm.send(work(job), 0, 2)
        return order
    todo, running = list(range(jobs)), size - 1
    while running:
        status = MPI.Status()
        answer = comm.recv(source=any_source, tag=any_tag, status=status)
        order.append((status.Get_source(), answer))
        job = todo.pop() if todo else None
        running -= job is None
        comm.send(job, status.Get_source())
    return order


def waitany_round():
    requests = [comm.irecv(source=any_source, tag=3) for _ in range(size - 1)]
    sends = [comm.isend((rank, other), other, 3) for other in range(size) if other != rank]
    order = [MPI.Request.waitany(requests) for _ in requests]
    MPI.Request.waitall(sends)
    return order


def probe_loop():
    order, seen = [], 0
    sends = [comm.isend("x" * (rank + 1), other, 4 + rank) for other in range(size)]
    while seen < size:
        status = MPI.Status()
        if comm.iprobe(any_source, any_tag, status):
            message = comm.recv(source=status.Get_source(), tag=status.Get_tag())
            order.append((status.Get_source(), status.Get_tag(), len(message)))
            seen += 1
    MPI.Request.waitall(sends)
    return order


found = [master_worker(60)]
comm.barrier()
found.append([waitany_round() for _ in range(20)])
comm.barrier()
found.append([probe_loop() and comm.barrier() for _ in range(20)])
for part in comm.gather(found) or []:
    print(part)
