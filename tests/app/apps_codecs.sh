# SPDX-License-Identifier: MIT
# Each app recorded with each codec of rows, and replayed by clocks with the recorded result, once as it comes and once with sends that are delayed at random.
rounds=$(dirname "$0")/../rounds
apps="particles masterworker sortgather halo sparse jacobi treesearch lu mg polls"
for codec in cdc gzip raw; do
    "$rounds" -n 1 -r 4 -m "$1" -a "$apps" -k $codec || exit 1
done
exec "$rounds" -n 2 -r 4 -m "$1" -a "$apps" -k cdc -d 2000
