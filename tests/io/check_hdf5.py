# SPDX-License-Identifier: BSD-3-Clause
"""VTK and h5py read the files of Ambit, written by any number of processes, and Ambit reads those of h5py.

    check_hdf5.py path/to/test_field path/to/ambit [mpirun]

It needs the Python of `scripts/setup check-all`, with VTK and h5py; without it, exit status 77 (skipped).
"""
import itertools, os, pathlib, subprocess, sys, tempfile

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "build/python/bin/python"
if not os.environ.get("CHECK_PYTHON"):
    if not PYTHON.exists():
        print("skipped: there is no build/python with VTK and h5py; scripts/setup check-all makes it")
        sys.exit(77)
    os.execve(PYTHON, [str(PYTHON), "-B", *sys.argv], {**os.environ, "CHECK_PYTHON": "1"})

import h5py
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter
from vtkmodules.vtkIOHDF import vtkHDFReader

WRITER, AMBIT, *MPIRUN = sys.argv[1:]
TYPES = ["f4", "f8", "i4", "u1", "i2", "i8", "f2", "f4"]  # as AMBIT_TYPE_MAP has them; bfloat is read as float
EXTENTS = [5, 4, 3, 2, 3, 2]
ORIGIN, SPACING = [10, 20, 30], [0.5, 0.25, 2]


def values(shape, components):
    """As whole_value() in test_field.c."""
    x = np.zeros((*shape, components), dtype="i8") + np.arange(1, components + 1)
    for index in np.indices(shape):
        x = 7 * x + index[..., None]
    x %= 251
    return x if components > 1 else x[..., 0]


def read_vtk(path):
    reader = vtkHDFReader()
    assert reader.CanReadFile(str(path)), path
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def arrays(data):
    cells = data.GetCellData()
    return {cells.GetArrayName(i): vtk_to_numpy(cells.GetArray(i)) for i in range(cells.GetNumberOfArrays())}


def check_vtk(path, ndims, kind, components):
    with h5py.File(path) as file:  # VTK 9.2 compares all bytes of the text
        assert file["VTKHDF"].attrs.get_id("Type").dtype == np.dtype("S9"), path
    data = read_vtk(path)
    extent, origin, spacing = [0] * 6, [0.0] * 3, [1.0] * 3
    for d in range(ndims):
        extent[2 * d + 1] = EXTENTS[ndims - 1 - d]
        origin[d], spacing[d] = ORIGIN[ndims - 1 - d], SPACING[ndims - 1 - d]
    assert data.GetClassName() == "vtkImageData", data.GetClassName()
    assert list(data.GetExtent()) == extent, (path, data.GetExtent())
    assert list(data.GetOrigin()) == origin and list(data.GetSpacing()) == spacing, path
    got = arrays(data)["u"]
    want = values(EXTENTS[:ndims], components).reshape(-1, components)
    assert got.dtype == np.dtype("f4" if TYPES[kind] == "f2" else TYPES[kind]), (path, got.dtype)
    assert np.array_equal(got.reshape(-1, components), want), path


def check_h5(path, ndims, kind, components):
    with h5py.File(path) as file:
        got = file["u"]
        assert got.dtype == np.dtype(TYPES[kind]), (path, got.dtype)
        assert np.array_equal(got[()], values(EXTENTS[:ndims], components)), path
        assert list(got.attrs["spacing"])[:3] == SPACING[:ndims], path
        assert list(got.attrs["origin"])[:3] == ORIGIN[:ndims], path


def check_sparse(path):
    y, x = np.indices((40, 60)) - np.array([20, 30])[:, None, None]
    active = (x * x + y * y < 300) & (x * x + y * y > 60)
    data = read_vtk(path)
    got = arrays(data)
    for name in "u", "v":
        assert np.array_equal(got[name][active.ravel()], values((40, 60), 1)[active]), name
    assert np.array_equal(got["vtkGhostType"].reshape(40, 60) == 0, active)
    surface = vtkGeometryFilter()  # what ParaView draws
    surface.SetInputData(data)
    surface.Update()
    assert surface.GetOutput().GetNumberOfCells() == active.sum(), surface.GetOutput().GetNumberOfCells()


def check_written(command):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, WRITER, "--write", folder], check=True)
        path = pathlib.Path(folder)
        for ndims, kind, components in itertools.product(range(1, 7), range(8), (1, 3)):
            name = f"{ndims}-{kind}-{components}"
            check_h5(path / f"{name}.h5", ndims, kind, components)
            if ndims <= 3:
                check_vtk(path / f"{name}.vtkhdf", ndims, kind, components)
        check_sparse(path / "sparse.vtkhdf")


def check_read():
    """Files of h5py, chunked and compressed and of the other byte order too, go through the tool unchanged."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, options in {"plain": {}, "chunked": {"chunks": (3, 5), "compression": "gzip"}}.items():
            for dtype in "<f4", ">f8", "<i2":
                a = (100 * rng.random((20, 30))).astype(dtype)
                path = os.path.join(folder, "in.h5")
                with h5py.File(path, "w") as file:
                    file.create_dataset("data", data=a, **options)
                out = os.path.join(folder, "out.h5")
                kind = {"<f4": "float", ">f8": "double", "<i2": "short"}[dtype]
                subprocess.run([AMBIT, "run", "star2d1", "-q", "-n", "0", "--type", kind, "-i", path, "-o", out], check=True)
                with h5py.File(out) as file:
                    (result,) = file.values()
                    assert np.array_equal(result[()], a), (name, dtype)


for processes in (1, 2, 3, 4) if MPIRUN else (1,):
    check_written([*MPIRUN, "-n", str(processes)] if processes > 1 else [])
    print(f"ok - VTK and h5py read the files of {processes} process{'es' * (processes > 1)}", flush=True)
check_read()
print("ok - Ambit reads the files of h5py")
