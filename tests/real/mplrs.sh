# SPDX-License-Identifier: MIT
# Facets of a random polytope: a master gives out parts of the search as ranks come for them, another collects what they found, in the order in which it comes.
packages=(mplrs)
inputs() {
    awk -v points=34 -v width=7 -v x=5 'BEGIN {
        print "polytope\nV-representation\nbegin"
        print points, width, "rational"
        for (i = 0; i < points; i++) {
            printf "1"
            for (j = 1; j < width; j++) { x = (x * 16807) % 2147483647; printf " %d", int(x / 7) % 41 - 20 }
            print ""
        }
        print "end"
    }' >polytope.ext
}
results() { grep -v '^\*' facets | grep -v '^ *$'; }
app() { try mplrs openmpi 4 mplrs polytope.ext facets -temp ./; }
