# SPDX-License-Identifier: MIT
# Molecular dynamics in C++: domains, and a rank of its own for the long-range forces; then two threads of OpenMP a rank.
packages=(gromacs)
inputs() {
    printf '%s\n' '#include "oplsaa.ff/forcefield.itp"' '#include "oplsaa.ff/spce.itp"' '[ system ]' water '[ molecules ]' >water.top
    printf '%s\n' 'integrator = md' 'nsteps = 100' 'dt = 0.001' 'coulombtype = PME' 'rcoulomb = 0.9' 'rvdw = 0.9' 'tcoupl = v-rescale' 'tc-grps = System' 'tau-t = 0.5' 'ref-t = 300' \
        'ld-seed = 5' 'gen-seed = 9' 'gen-vel = yes' 'nstenergy = 20' 'nstcalcenergy = 20' >water.mdp
    { gmx -quiet solvate -cs spc216 -box 2.4 2.4 2.4 -o water.gro -p water.top && gmx -quiet grompp -f water.mdp -c water.gro -p water.top -o water.tpr -maxwarn 3; } >inputs.log 2>&1 || tail -n 5 inputs.log >&2
}
results() {
    gmx -quiet dump -e out.edr 2>/dev/null
    cat out.gro
}
app() {
    limit=120
    OMP_NUM_THREADS=1 try gromacs openmpi 4 gmx_mpi -quiet mdrun -s water.tpr -deffnm out -ntomp 1 -npme 1 -reprod -pin off
    OMP_NUM_THREADS=2 try 'gromacs with threads' openmpi 2 gmx_mpi -quiet mdrun -s water.tpr -deffnm out -ntomp 2 -reprod -pin off
}
