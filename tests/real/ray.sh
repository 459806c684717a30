# SPDX-License-Identifier: MIT
# An assembler of sequences whose ranks are state machines that poll for messages from anyone. It seeds its random numbers by time and process, sends test messages to
# random ranks, and looks at the clock between messages: it replays if all that is captured, and leaves the record if not. With 8 ranks on 2
# processors about one run of four does not end, natively too, after it merged paths: a recording without an end says nothing then.
packages=(ray)
small=(-hash-table-buckets 4096 -bloom-filter-bits 100000) # by default it looks through 268,435,456 buckets in each rank, again and again
inputs() { random_reads 400 100 11 >reads.fasta; }
results() { cat out/Contigs.fasta out/ContigLengths.txt out/CoverageDistribution.txt; }
app() {
    limit=100 captures=time,random,pid
    try 'ray --capture time,random,pid' openmpi 2 Ray "${small[@]}" -k 21 -s reads.fasta -o out
    captures='' leaves='seeds and waits by the time'
    try ray openmpi 2 Ray "${small[@]}" -k 21 -s reads.fasta -o out
}
