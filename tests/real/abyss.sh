# SPDX-License-Identifier: MIT
# An assembler of sequences whose ranks share a table of k-mers, receive from anyone and poll while they wait.
packages=(abyss)
inputs() { random_reads 3000 900 7 >reads.fa; }
results() { cat contigs.fa; }
app() { try abyss openmpi 3 /usr/lib/abyss/ABYSS-P -k 31 -E 0 -o contigs.fa reads.fa; }
