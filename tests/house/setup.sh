# SPDX-License-Identifier: MIT
# tools/setup, where it cannot install: it names what is missing for each packager, and nothing if all is there, however it came.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in sh awk cat cut grep id; do ln -s "$(command -v $tool)" "$work/$tool"; done
env -i PATH="$work" HOME="$work" REPRISE_NO_INSTALL=1 sh tools/setup 2>"$work/err" && { echo "nothing is missing where nothing is"; exit 1; }
for words in 'missing: C compiler, make, CMake, .*MPI with its mpicc in PATH' 'apt install .*libopenmpi-dev' 'dnf install .*elfutils-devel' 'zypper install' 'pacman -S .*xxhash' 'spack install .*openmpi'; do
    grep -q -- "$words" "$work/err" || { echo "not said: $words"; cat "$work/err"; exit 1; }
done
REPRISE_NO_INSTALL=1 sh tools/setup 2>"$work/err" || { echo "missing, where this was built:"; cat "$work/err"; exit 1; }
[ ! -s "$work/err" ] || { echo "something is said where nothing is missing"; exit 1; }
REPRISE_NO_INSTALL=1 REPRISE_MPICC=/somewhere/mpicc sh tools/setup || exit 1
