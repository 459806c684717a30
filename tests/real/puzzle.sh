# SPDX-License-Identifier: MIT
# Quartet puzzling: a master hands out pieces of work, in the order in which the others ask for more. Not alone: it asks its questions on standard input.
packages=(tree-ppuzzle)
captures=time
orders='outside inside'
inputs() { random_taxa 10 300 5 >dna; }
results() { grep -v -E 'Date and time|seconds|minutes|hours|Computation time|processor' dna.puzzle; cat dna.tree; }
app() { try ppuzzle openmpi 4 sh -c 'printf "y\n" | tree-ppuzzle -randseed42 dna'; }
