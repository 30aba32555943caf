# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack: copy it to packages/ambit/package.py of a Spack repository, and set git to the repository
# that you use.
from spack.package import *


class Ambit(CMakePackage):
    """Iterative stencil computations in C on processors, GPUs and clusters."""

    homepage = "https://ambit.example.org"
    git = "https://ambit.example.org/ambit.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("shared", default=True, description="build a shared library")
    variant("mpi", default=True, description="several processes, with MPI")
    variant("png", default=True, description="PNG pictures")
    variant("hdf5", default=False, description="HDF5 and VTKHDF files; the library is loaded at run time")
    variant("port", default=False, description="ambit port, with libclang")
    variant("streams", default=True, description="streams of items, and ambit stream")
    variant("elevation", default=True, description="elevation files: SRTM, ESRI ASCII, GeoTIFF")
    variant("tiff", default=False, when="+elevation", description="compressed TIFF files")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("mpi@3:", when="+mpi")
    depends_on("libpng", when="+png")
    depends_on("libtiff", when="+tiff")
    depends_on("hdf5", when="+hdf5", type="run")
    depends_on("llvm@17: +clang", when="+port")

    def cmake_args(self):
        args = [
            self.define("BUILD_TESTING", False),
            self.define("AMBIT_EXAMPLES", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
        for variant in ["mpi", "png", "tiff", "port", "streams", "elevation"]:
            option = "LIBCLANG" if variant == "port" else variant.upper()
            args.append(self.define(f"AMBIT_{option}", "ON" if f"+{variant}" in self.spec else "OFF"))
        args.append(self.define("AMBIT_HDF5", "AUTO" if "+hdf5" in self.spec else "OFF"))
        if "+mpi" in self.spec:
            args.append(self.define("AMBIT_MPI_COMPILERS", self.spec["mpi"].mpicc))
        return args

    def setup_run_environment(self, env):
        if "+hdf5" in self.spec:
            env.set("HDF5_DIR", self.spec["hdf5"].prefix)
