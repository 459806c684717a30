# SPDX-License-Identifier: MIT
# A pool of workers by mpi4py.futures.
import math
from mpi4py.futures import MPIPoolExecutor, as_completed

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        jobs = [pool.submit(math.factorial, n) for n in range(30)]
        print(sum(job.result() for job in as_completed(jobs)))
        print(list(pool.map(math.sqrt, range(20), chunksize=3)))
