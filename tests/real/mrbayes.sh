# SPDX-License-Identifier: MIT
# Bayesian inference of a phylogeny: coupled Markov chains on the ranks, which exchange states.
packages=(mrbayes-mpi)
inputs() {
    cat >tiny.nex <<'END'
#NEXUS
begin data;
dimensions ntax=5 nchar=40;
format datatype=dna gap=-;
matrix
a ACGTACGTTAGCCATGACGTACGATTACGCATGCATTACG
b ACGTACGATAGCCATGACGAACGATTACGCATGCGTTACG
c ACTTACGTTAGCGATGACGTACGTTTACGCTTGCATTACC
d ACTTACGTAAGCGATGTCGTACGTTTACGCTTGCATAACC
e GCTTACGTAAGCGATGTCGTTCGTTTACCCTTGCATAACC
;
end;
begin mrbayes;
set autoclose=yes nowarn=yes seed=17 swapseed=23;
lset nst=2;
mcmc ngen=2000 nruns=2 nchains=4 samplefreq=100 printfreq=500 diagnfreq=1000;
end;
END
}
results() { cat tiny.nex.run?.p tiny.nex.run?.t; }
# `mb-mpi` of the path is a script that starts mpirun itself.
app() { try mrbayes openmpi 4 /usr/lib/mrbayes-mpi/mb-mpi tiny.nex; }
