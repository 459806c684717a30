# SPDX-License-Identifier: MIT
# A Lennard-Jones melt in the molecular dynamics of LAMMPS, with atoms that move from rank to rank.
packages=(lammps)
inputs() {
    cat >in.melt <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 5 delay 0 check yes
fix 1 all nve
fix 2 all balance 50 1.05 shift xyz 10 1.1
thermo 20
dump 1 all custom 100 melt.dump id x y z vx vy vz
dump_modify 1 sort id format float %.17g
run 200
END
}
results() { sed -n '/^Step/,/^Loop/p' "$1" | grep -v '^Loop' && cat melt.dump; }
app() { try lammps openmpi 4 lmp -in in.melt -log none; }
