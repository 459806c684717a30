# SPDX-License-Identifier: MIT
# A ping-pong of growing messages, with as many rounds as were asked for; -a posts its receives early, and polls.
packages=(netpipe-openmpi netpipe-mpich2)
results() { awk '/bytes/ { print $2, $4 }' "$1"; }
app() {
    try netpipe openmpi 2 NPopenmpi -u 4096 -n 20
}
