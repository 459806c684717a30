# SPDX-License-Identifier: MIT
# Photonic bands: FFTs over MPI, parallel HDF5, Guile.
packages=(mpb-mpi hdf5-tools)
events=none
inputs() {
    cat >bands.ctl <<'END'
(set! num-bands 4)
(set! resolution 16)
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity) (material (make dielectric (epsilon 12))))))
(set! k-points (interpolate 1 (list (vector3 0 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0))))
(set! deterministic? true)
(run-tm output-efield-z)
END
}
# Alone nothing is written by MPI-IO.
results() { grep '^tmfreqs' "$1"; [ "$order" = alone ] || h5dump -d z.r bands-e.k03.b04.z.tm.h5 2>/dev/null | md5sum; }
app() { try mpb openmpi 4 mpb-mpi bands.ctl; }
