# SPDX-License-Identifier: MIT
# Which rank wrote what reads got, in tree search and hash table, for a half of the ranks and for all.
exec "$(dirname "$0")/../rounds-who" -n 1 -r 4 -s "0,2 all" -m "$1"
