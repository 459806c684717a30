# SPDX-License-Identifier: MIT
# Hypothesis tests on phylogenies: a script whose master hands out work and takes the answer of any node.
packages=(hyphy-mpi hyphy-common)
write_jobs() { # FILE: HyPhy takes a path that is not absolute from its own directory
    cat >"$1" <<'END'
jobs = 40;
sent = 0;
done = 0;
text = "";
for (node = 1; node < MPI_NODE_COUNT; node += 1) {
    MPISend (node, "x = 0; for (i = 0; i < " + 300 * (sent % 5) + "; i += 1) { x += Sqrt (i); } return x + " + sent + ";");
    sent += 1;
}
while (done < jobs) {
    MPIReceive (-1, from, answer);
    done += 1;
    text += "RESULT " + from + " " + answer + "\n";
    if (sent < jobs) {
        MPISend (from, "x = 0; for (i = 0; i < " + 300 * (sent % 5) + "; i += 1) { x += Sqrt (i); } return x + " + sent + ";");
        sent += 1;
    }
}
fprintf (stdout, text);
END
}
results() { grep '^RESULT' "$1"; }
app() {
    write_jobs "$base/jobs.bf"
    try hyphy openmpi 3 HYPHYMPI "$base/jobs.bf"
}
