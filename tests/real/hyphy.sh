# SPDX-License-Identifier: MIT
# Hypothesis tests on phylogenies: a script whose master hands out work and takes the answer of any node.
packages=(hyphy-mpi hyphy-common)
inputs() {
    cat >jobs.bf <<'END'
jobs = 40;
sent = 0;
done = 0;
for (node = 1; node < MPI_NODE_COUNT; node += 1) {
    MPISend (node, "x = 0; for (i = 0; i < " + 300 * (sent % 5) + "; i += 1) { x += Sqrt (i); } return x + " + sent + ";");
    sent += 1;
}
while (done < jobs) {
    MPIReceive (-1, from, answer);
    done += 1;
    fprintf (stdout, "RESULT ", from, " ", answer, "\n");
    if (sent < jobs) {
        MPISend (from, "x = 0; for (i = 0; i < " + 300 * (sent % 5) + "; i += 1) { x += Sqrt (i); } return x + " + sent + ";");
        sent += 1;
    }
}
END
}
results() { grep '^RESULT' "$1"; }
app() { try hyphy openmpi 3 HYPHYMPI "$PWD/jobs.bf"; }
