# SPDX-License-Identifier: MIT
# A ping-pong of growing messages; -z receives from anyone, -a posts its receives early. How many rounds are played is measured, and part of the messages, unless -n
# says it. The sizes and rounds are results. With MPICH, -z hangs or aborts natively.
packages=(netpipe-openmpi netpipe-mpich2)
results() { awk '/ times -->/ { print $2, $4 }' "${1%.out}.err"; }
app() {
    try 'netpipe -z -n 20' openmpi 2 NPopenmpi -z -u 4096 -n 20
    try 'netpipe -z -a -n 20' openmpi 2 NPopenmpi -z -a -u 4096 -n 20
    captures=time
    try 'netpipe -z --capture time' openmpi 2 NPopenmpi -z -u 64
    captures='' events=none
    try 'netpipe -n 20' mpich 2 NPmpich2 -u 256 -n 20
    try 'netpipe -a -n 20' mpich 2 NPmpich2 -a -u 256 -n 20
    leaves='the number of rounds is measured'
    try 'netpipe -z' openmpi 2 NPopenmpi -z -u 4
}
