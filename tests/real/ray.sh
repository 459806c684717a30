# SPDX-License-Identifier: MIT
# An assembler of sequences whose ranks are state machines that poll for messages from anyone.
packages=(ray)
inputs() { random_reads 1500 400 11 >reads.fasta; }
results() { cat out/Contigs.fasta out/ContigLengths.txt out/CoverageDistribution.txt; }
app() { try ray openmpi 3 Ray -k 21 -s reads.fasta -o out; }
