# SPDX-License-Identifier: MIT
# An assembler of sequences whose ranks share a table of k-mers, receive from anyone and poll while they wait.
packages=(abyss)
inputs() { random_reads 1500 450 7 >reads.fa; }
results() { cat contigs.fa; }
# All ranks may block in MPI_Send, natively too, where a message is larger than the eager limit; so that is raised.
app() { OMPI_MCA_btl_vader_eager_limit=16000 try abyss openmpi 3 /usr/lib/abyss/ABYSS-P -k 31 -E 0 -o contigs.fa reads.fa; }
