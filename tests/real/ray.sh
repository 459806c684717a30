# SPDX-License-Identifier: MIT
# An assembler of sequences whose ranks are state machines that poll for messages from anyone.
# Its network test is left out: it sends to random ranks, and seeds them by the time.
packages=(ray)
inputs() { random_reads 800 200 11 >reads.fasta; }
results() { cat out/Contigs.fasta out/ContigLengths.txt out/CoverageDistribution.txt; }
app() { try ray openmpi 3 Ray -disable-network-test -disable-scaffolder -k 21 -s reads.fasta -o out; }
