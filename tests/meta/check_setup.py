#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/setup asks for the headers of an MPI if its mpirun is installed, and for a whole MPI on request.

It runs with a PATH made for the test, without apt: then it lists missing packages and installs nothing."""
import os, pathlib, shutil, subprocess, sys, tempfile

import project

TOOLS = "sh cat cc cmake make pkg-config sed tr id grep head cut env as ld python3".split()
OPEN_MPI, HYDRA = "mpirun (Open MPI) 4.1.4", "HYDRA build details:"


def run(group, **commands):
    """The packages listed as missing. Keywords are commands that print a text, with __ for a dot."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for tool in TOOLS:
            if shutil.which(tool):
                (folder / tool).symlink_to(shutil.which(tool))
        for command, says in commands.items():
            path = folder / command.replace("__", ".")
            path.write_text(f"#!/bin/sh\necho '{says}'\n")
            path.chmod(0o755)
        done = subprocess.run(["/bin/sh", project.ROOT / "scripts/setup", group], env={**os.environ, "PATH": name},
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    bad = 0

    def check(what, result, code, *words, missing=()):
        nonlocal bad
        good = result[0] == code and all(w in result[1] for w in words) and not any(w in result[1] for w in missing)
        bad += not good
        print(f"{'ok' if good else 'not ok'} - {what}" + ("" if good else f"\n{result}"))

    if run("build")[0]:
        project.skip("set-up finds no C compiler, CMake or libpng here")
    check("without mpirun the build needs no MPI", run("build"), 0, missing=("MPI",))
    check("with Open MPI's mpirun it wants its headers", run("build", mpirun=OPEN_MPI), 0, "headers of Open MPI",
          missing=("MPICH",))
    check("also under Debian's name", run("build", mpirun__openmpi=""), 0, "headers of Open MPI", missing=("MPICH",))
    check("with MPICH's those of MPICH", run("build", mpirun=HYDRA), 0, "headers of MPICH", missing=("Open MPI",))
    check("with both it wants both", run("build", mpirun__mpich="", mpirun__openmpi=""), 0, "of Open MPI", "of MPICH")
    check("with the headers nothing is missing", run("build", mpirun=OPEN_MPI, mpicc="mpicc: Open MPI 4.1.4"), 0,
          missing=("MPI",))
    check("the group mpi needs an MPI", run("mpi"), 1, "an MPI: Open MPI or MPICH", "mpicc")
    check("an MPICH will do", run("mpi", mpirun=HYDRA, mpicc="mpicc for MPICH version 4.0.2"), 0, missing=("MPI",))
    check("its mpirun asks for its headers", run("mpi", mpirun=HYDRA), 0, "headers of MPICH", missing=("mpicc",))
    check("other groups are refused", run("moon"), 2, "usage: scripts/setup build|mpi|check|check-all|bench|docs|packages")
    return bad != 0


sys.exit(main())
