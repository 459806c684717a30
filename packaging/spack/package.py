# SPDX-License-Identifier: MIT
# For a repository of packages of Spack 1.0 or later, as packages/reprise/package.py in it.
# `make dist` makes the archive. Run `spack install --no-checksum reprise` in its folder.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Reprise(CMakePackage):
    """Record a run of an MPI program and replay it exactly, run it deterministically without a
    record, debug one rank without the others, and survive dead ranks. Programs need not be
    changed or compiled again."""

    url = f"file://{os.getcwd()}/reprise-0.1.0.tar.xz"
    manual_download = True

    license("MIT")

    version("0.1.0")

    variant("fortran", default=True, description="Module for Fortran programs of reprise ft")
    variant("plugins", default=False, description="Plugins of reprise-cc, which count faster")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+plugins")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.6:", type="build")

    depends_on("mpi")
    depends_on("elfutils")
    depends_on("libunwind")
    depends_on("xxhash", type="build")
    depends_on("zlib-api")
    depends_on("zstd")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    sanity_check_is_file = ["bin/reprise", "include/reprise.h", "lib/libreprise.a"]

    def cmake_args(self):
        args = [
            self.define("REPRISE_MPICC", self.spec["mpi"].mpicc),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define_from_variant("REPRISE_PLUGINS", "plugins"),
        ]
        if self.spec.satisfies("~fortran"):
            args.append(self.define("CMAKE_Fortran_COMPILER", "NOTFOUND"))
        return args

    def check(self):
        with working_dir(self.build_directory):
            make("unit_tests")
            ctest = Executable(self.spec["cmake"].prefix.bin.ctest)
            ctest("--output-on-failure", "-R", r"^unit\.")

    def test_version(self):
        """the command runs"""
        reprise = which(self.prefix.bin.reprise)
        assert str(self.spec.version) in reprise("--version", output=str.split)
