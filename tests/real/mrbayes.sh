# SPDX-License-Identifier: MIT
# Bayesian inference of a phylogeny. Debian's program `mb-mpi` is linked with no MPI (the one in the path is a script that starts it by mpirun), so there is nothing to
# record, and reprise says so.
packages=(mrbayes-mpi)
refuses='nothing was recorded|cannot see which MPI'
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
app() { try mrbayes openmpi 1 /usr/lib/mrbayes-mpi/mb-mpi tiny.nex; }
