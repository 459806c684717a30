# SPDX-License-Identifier: MIT
# Not a test: all others in this folder wait for it. It makes an MPI with ULFM where there is none, once a machine; `make test` begins with that in the background. Where that fails they are skipped.
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
"$tools/ulfm" --find && exit 0
timeout 5400 nice -n 19 "$tools/ulfm" --build && exit 0 # at the lowest priority: on a machine with more to do than these tests it takes long
echo "skipped: there is no MPI with ULFM, and it could not be made: see above"
exit 77
