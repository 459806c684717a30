# SPDX-License-Identifier: MIT
# A function of mpi.h that api/functions.table does not class breaks the build, by name, and one of shmem.h that api/shmem.table does not; so does a table that is not well formed.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for wrapper in mpicc.openmpi mpicc.mpich; do
    command -v $wrapper >/dev/null || continue
    { cat api/mpi.h.in; echo 'int MPI_Brand_new(int a, MPI_Comm comm);'; } >"$work/mpi.c"
    $wrapper -E -P -x c "$work/mpi.c" -o "$work/mpi.i" || exit 1
    python3 api/generate.py api/functions.table "$work/mpi.i" "$work" 2>"$work/err" && { echo "an unclassed function passes"; exit 1; }
    grep -q 'does not class: MPI_Brand_new$' "$work/err" || { cat "$work/err"; exit 1; }
done
{ cat api/functions.table; echo 'MPI_Brand_new perhaps'; } >"$work/table"
python3 api/generate.py "$work/table" "$work/mpi.i" "$work" 2>"$work/err" && { echo "an unknown class passes"; exit 1; }
grep -q 'MPI_Brand_new perhaps' "$work/err" || { cat "$work/err"; exit 1; }
if command -v oshcc >/dev/null && oshcc -E -x c api/shmem.h.in >/dev/null 2>&1; then
    { cat api/shmem.h.in; echo 'void shmem_int_brand_new(int *target, int pe);'; } >"$work/shmem.c"
    oshcc -E -P -x c "$work/shmem.c" -o "$work/shmem.i" || exit 1
    python3 api/shmem.py api/shmem.table "$work/shmem.i" "$work" 2>"$work/err" && { echo "an unclassed function of OpenSHMEM passes"; exit 1; }
    grep -q 'declares shmem_int_brand_new, which no line' "$work/err" || { cat "$work/err"; exit 1; }
fi
rm -rf api/__pycache__
