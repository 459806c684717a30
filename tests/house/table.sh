# SPDX-License-Identifier: MIT
# A function of mpi.h without a row in api/functions.table gets an entry that refuses it by name, and so
# does one of shmem.h that no line of api/shmem.table fits. Tables that are not well formed break the build.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tries=0
refused() { # WORDS GENERATOR ARGUMENTS...: the generator ends with these words
    local words=$1
    shift
    python3 -B "$@" 2>"$work/err" && { echo "$1 accepts what it should not: $words"; exit 1; }
    grep -qe "$words" "$work/err" || { echo "not said: $words"; cat "$work/err"; exit 1; }
    tries=$((tries + 1))
}
table=api/functions.table
mkdir "$work/made"
for wrapper in mpicc.openmpi mpicc.mpich mpicc; do
    command -v $wrapper >/dev/null || continue
    $wrapper -E -P -x c api/mpi.h.in -o "$work/mpi.i" || exit 1
    { cat "$work/mpi.i"; echo 'int MPI_Brand_new(int a, MPI_Comm comm); double MPIX_Newer(void);'; } >"$work/more.i"
    refusing="record det"
    ! grep -q ompi_communicator_t "$work/mpi.i" || refusing="$refusing ft"
    for library in $refusing; do
        python3 -B api/$library.py $table "$work/more.i" "$work/made" || exit 1
        for name in MPI_Brand_new PMPI_Brand_new; do
            grep -A5 " $name(int a0, *MPI_Comm a1)" "$work/made/entries.c" | grep -q 'refuse("MPI_Brand_new")' ||
                { echo "$library does not refuse $name"; exit 1; }
        done
        tries=$((tries + 1))
    done
    for library in piggyback stress outputs blocking compound; do
        python3 -B api/$library.py $table "$work/more.i" "$work/made" || exit 1
        ! grep -q Brand_new "$work/made/entries.c" || { echo "$library intercepts MPI_Brand_new"; exit 1; }
        tries=$((tries + 1))
    done
    python3 -B api/partial.py $table "$work/more.i" "$work/made" api/partial.table || exit 1
    grep -q 'refuse("MPI_Brand_new")' "$work/made/entries.c" || { echo "partial does not refuse MPI_Brand_new"; exit 1; }
done
{ cat $table; echo 'MPI_Brand_new perhaps'; } >"$work/table"
refused 'MPI_Brand_new perhaps' api/record.py "$work/table" "$work/mpi.i" "$work"
{ cat $table; echo 'none MPI_Send'; } >"$work/table"
refused 'MPI_Send has two rows' api/record.py "$work/table" "$work/mpi.i" "$work"
sed '/^MPI_Cancel/s/cancel\|own/perhaps/' $table >"$work/table"
refused "MPI_Cancel: det has no template 'perhaps'" api/det.py "$work/table" "$work/mpi.i" "$work"
sed '/^MPI_Recv_init/s/source, tag/tag, source/' $table >"$work/table"
refused 'MPI_Recv_init\(_c\)\? has other arguments in partial.table' \
    api/partial.py "$work/table" "$work/mpi.i" "$work" api/partial.table
sed '/^MPI_Probe/s/feed/both/' $table >"$work/table"
refused 'MPI_Probe is both in functions.table, feed in partial.table' \
    api/partial.py "$work/table" "$work/mpi.i" "$work" api/partial.table
# The words stand below the names of the libraries.
awk '/^function/ { for (i = 2; i < NF; i++) at[i] = index($0, " " $i " ") }
    /^MPI/ { for (i in at) if (substr($0, at[i], 2) !~ /^ [^ ]/) { print "not below its library: " $0; bad = 1; break } }
    END { exit bad }' $table || exit 1
if command -v oshcc >/dev/null && oshcc -E -x c api/shmem.h.in >/dev/null 2>&1; then
    { cat api/shmem.h.in; echo 'void shmem_int_brand_new(int *target, int pe);'; } >"$work/shmem.c"
    oshcc -E -P -x c "$work/shmem.c" -o "$work/shmem.i" || exit 1
    python3 -B api/shmem.py api/shmem.table "$work/shmem.i" "$work" || exit 1
    grep -q 'rp_data_refuse("shmem_int_brand_new")' "$work/shmem_entries.c" || { echo "shmem_int_brand_new is not refused"; exit 1; }
    tries=$((tries + 1))
fi
[ "$tries" -ge 14 ] || { echo "only $tries tries"; exit 1; }
