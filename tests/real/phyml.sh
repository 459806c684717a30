# SPDX-License-Identifier: MIT
# Phylogenies by maximum likelihood; the bootstrap's trees are shared out among the ranks.
packages=(phyml)
inputs() { random_taxa 10 300 5 >dna; }
results() { cat dna_phyml_tree* dna_phyml_boot_trees*; }
app() { try phyml openmpi 4 phyml-mpi -i dna -b 8 -m HKY85 --r_seed 7 --quiet --no_memory_check; }
