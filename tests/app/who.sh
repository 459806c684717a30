# SPDX-License-Identifier: MIT
# Which rank wrote what reads got, in tree search and hash table, for two ranks of three.
exec "$(dirname "$0")/../soak" who -n 1 -r 3 -s 0,2 -m "$1" -a "fib hashtable"
