# SPDX-License-Identifier: MIT
# Quantum chemistry on Global Arrays, by ARMCI-MPI: all data is in windows, whose addresses the ranks tell each other.
packages=(nwchem-openmpi)
inputs() {
    cat >water.nw <<'END'
start water
memory 200 mb
geometry units angstroms noautosym
 O 0 0 0.1
 H 0 0.76 -0.47
 H 0 -0.76 -0.47
end
basis
 * library 6-31g*
end
task scf
END
}
results() { grep -E 'Total SCF|nuclear' "$1"; }
app() {
    refuses='MPI_Win_allocate cannot be replayed yet' windows=yes limit=120
    try nwchem openmpi 3 nwchem.openmpi water.nw
}
