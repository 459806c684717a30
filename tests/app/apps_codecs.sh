# SPDX-License-Identifier: MIT
# Each app recorded with cdc and replayed by clocks with the recorded result, once as it comes and once, half of them on each MPI, with sends that are delayed at random; with the other codecs of rows, which replay alike, some apps, one codec on each MPI.
rounds=$(dirname "$0")/../rounds
apps="particles masterworker sortgather halo sparse jacobi treesearch lu mg polls"
"$rounds" -n 1 -r 4 -m "$1" -a "$apps" -k cdc || exit 1
case $1 in
openmpi) codec=gzip delayed="particles sortgather sparse treesearch mg" ;;
*) codec=raw delayed="masterworker halo jacobi lu polls" ;;
esac
"$rounds" -n 1 -r 4 -m "$1" -a "particles halo polls" -k $codec || exit 1
exec "$rounds" -n 1 -r 4 -m "$1" -a "$delayed" -k cdc -d 2000
