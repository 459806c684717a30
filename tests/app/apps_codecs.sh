# SPDX-License-Identifier: MIT
# Each app recorded with cdc and replayed by clocks with the recorded result, on one MPI as it comes and on the other with sends that are delayed at random; with the other codecs of rows, which replay alike, some apps, one codec on each MPI.
soak=$(dirname "$0")/../soak
some="particles sortgather sparse treesearch mg" others="masterworker halo jacobi lu polls"
case $1 in
openmpi) codec=gzip delayed=$some plain=$others ;;
*) codec=raw delayed=$others plain=$some ;;
esac
"$soak" replay -n 1 -r 4 -m "$1" -a "$plain" -k cdc || exit 1
"$soak" replay -n 1 -r 4 -m "$1" -a "particles halo polls" -k $codec || exit 1
exec "$soak" replay -n 1 -r 4 -m "$1" -a "$delayed" -k cdc -d 2000
