# SPDX-License-Identifier: MIT
# Molecular dynamics in Fortran, with OpenMP and MPI_THREAD_SERIALIZED. All receives are named; what its threads lock is the Fortran library's.
packages=(cp2k)
inputs() {
    cat >argon.inp <<'END'
&GLOBAL
 PROJECT argon
 RUN_TYPE MD
 PRINT_LEVEL LOW
&END
&MOTION
 &MD
  ENSEMBLE NVE
  STEPS 20
  TEMPERATURE 80
 &END
&END
&FORCE_EVAL
 METHOD FIST
 &MM
  &FORCEFIELD
   &NONBONDED
    &LENNARD-JONES
     ATOMS Ar Ar
     EPSILON 119.8
     SIGMA 3.405
     RCUT 8.4
    &END
   &END
   &CHARGE
    ATOM Ar
    CHARGE 0.0
   &END
  &END
  &POISSON
   &EWALD
    EWALD_TYPE none
   &END
  &END
 &END
 &SUBSYS
  &CELL
   ABC 17 17 17
  &END
  &COORD
   Ar 0 0 0
   Ar 4 0 0
   Ar 0 4 0
   Ar 0 0 4
   Ar 4 4 0
   Ar 8 1 2
  &END
 &END
&END
END
}
results() { cat argon-pos-1.xyz; awk '{ $NF = ""; print }' argon-1.ener; }
export OMP_NUM_THREADS=2
app() {
    events=none limit=120
    try cp2k openmpi 2 cp2k -i argon.inp
}
