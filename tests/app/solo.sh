# SPDX-License-Identifier: MIT
# The one-sided apps once, and one of messages: recorded with the data of two ranks, which are run alone.
exec "$(dirname "$0")/../soak" solo -n 1 -r 4 -s 0,2 -m "$1" -a "laplace gups steal hashtable particles"
