#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit gen --cuda` and `--opencl`: the compilers of these languages accept their output.

    test_gen_gpu.py path/to/ambit cuda|opencl

CUDA is compiled by NVRTC, and by nvcc if it is installed, for a GPU that need not be present; OpenCL for the
first device.
"""
import ast, ctypes, os, pathlib, re, shutil, subprocess, sys

import tool

LANGUAGE = sys.argv[2]
FIXED = "1dc2 1dnc4 2d4 2d8 2df5 2dnc8 3d6 3d27 3df7 3dnc12 4d8".split()
FAMILIES = [f"{shape}{d}d{r}" for shape, most in (("star", 2097152), ("box", 300)) for d in range(1, 7)
            for r in (1, 3) if (2 * r + 1)**d <= most]  # compilers are slow on larger boxes
SYMMETRIC = [f"{shape}{d}d1s" for shape in ("star", "box") for d in range(1, 7)]
TYPES = ["float", "double", "int", "unsigned char", "short", "long"]


def _library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print(f"skipped: there is no {names[0]} here")
    sys.exit(tool.SKIP)


class _Nvrtc:
    """Compiles a text to PTX. Returns the messages of the compiler; None if it accepts the text."""

    def __init__(self):
        self.lib = _library("libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12")

    def refusal(self, text):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_90", b"--std=c++17")
        assert self.lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"k.cu", 0, None, None) == 0
        if self.lib.nvrtcCompileProgram(program, 2, options) == 0:
            self.lib.nvrtcDestroyProgram(ctypes.byref(program))
            return None
        self.lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.lib.nvrtcGetProgramLog(program, log)
        return log.value.decode()


class _OpenCl:
    """The same for the first device."""

    def __init__(self):
        self.lib, n = _library("libOpenCL.so.1", "libOpenCL.so"), ctypes.c_uint()
        self.device, platform = ctypes.c_void_p(), ctypes.c_void_p()
        for f in (self.lib.clCreateContext, self.lib.clCreateProgramWithSource):
            f.restype = ctypes.c_void_p
        if self.lib.clGetPlatformIDs(1, ctypes.byref(platform), ctypes.byref(n)) or not n.value:
            print("skipped: there is no OpenCL device here")
            sys.exit(tool.SKIP)
        everything = ctypes.c_ulong(0xFFFFFFFF)
        assert self.lib.clGetDeviceIDs(platform, everything, 1, ctypes.byref(self.device), None) == 0
        self.context = ctypes.c_void_p(self.lib.clCreateContext(None, 1, ctypes.byref(self.device), None, None, None))

    def refusal(self, text):
        source, size = ctypes.c_char_p(text.encode()), ctypes.c_size_t()
        program = ctypes.c_void_p(self.lib.clCreateProgramWithSource(self.context, 1, ctypes.byref(source), None, None))
        if self.lib.clBuildProgram(program, 1, ctypes.byref(self.device), b"-cl-std=CL1.2", None, None) == 0:
            self.lib.clReleaseProgram(program)
            return None
        build_log = 0x1183
        self.lib.clGetProgramBuildInfo(program, self.device, build_log, ctypes.c_size_t(0), None, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.lib.clGetProgramBuildInfo(program, self.device, build_log, size, log, None)
        return log.value.decode()


COMPILER = _Nvrtc() if LANGUAGE == "cuda" else _OpenCl()


def _compiles(*words):
    text, _ = tool.run("gen", f"--{LANGUAGE}", *words)
    said = COMPILER.refusal(text)
    assert said is None, f"{words}: {said}"
    assert text.count("ambit-launch: ") == 1 and "Arguments, in this order" in text, text[:2000]
    return text


def a_wrong_text_is_refused():
    assert COMPILER.refusal("this is no kernel")


def every_fixed_name_of_the_catalogue_compiles():
    for name in FIXED:
        _compiles(name)


def names_of_its_families_compile_in_any_number_of_dimensions():
    names = FAMILIES + SYMMETRIC
    for name in names if "AMBIT_TEST_LONG" in os.environ else names[::16]:
        _compiles(name)


def every_type_compiles_strict_and_for_small_grids():
    for kind in TYPES:
        _compiles("2d8", "--type", kind, "--strict")
        _compiles("star3d1", "--type", kind, "--size", "20x30x40")


def kernels_with_parameters_and_reductions_compile():
    with tool.folder(heat_c=tool.HEAT, life_c=tool.LIFE, my_weights="dims 2\nweight -1 0 0.5\nweight 0 2 0.25\n",
                     flat_c="void flat(float *u) { *u = *u + 1; }") as f:
        heat = _compiles(f / "heat.c")
        assert f"ambit_{LANGUAGE}_heat_fold" in heat and "value k (float)" in heat and "change_to" in heat
        assert f"ambit_{LANGUAGE}_tiny" in _compiles(f / "life.c", "--name", "tiny")
        _compiles(f / "my.weights", "--type", "double")
        assert f"ambit_{LANGUAGE}_flat 3d threads" in _compiles(f / "flat.c", "--size", "8x8x8")


def the_kernel_of_the_documentation_compiles():
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/gpu-kernels.md").read_text()
    lines = re.search(rf"^static const char {LANGUAGE}\[\] =\n(.*?);\n\n", text, re.M | re.S)[1].splitlines()
    said = COMPILER.refusal("".join(ast.literal_eval(line.strip()) for line in lines))
    assert said is None, said


DAMP = """void damp(const float *v, float *u)
{
  *u = 0.5f * *u + 0.1f * (v[0][0][1] + v[0][0][-1] + v[0][1][0] + v[0][-1][0] + v[1][0][0] + v[-1][0][0]);
}
"""
if LANGUAGE == "opencl":
    def tiles_load_early_but_not_what_they_overwrite():
        """NVIDIA's compiler loses addresses that loads and stores in asm share (docs/notes/gpu.md, D3Q19)."""
        with tool.folder(damp_c=DAMP) as f:
            text = _compiles(f / "damp.c", "--size", "512^3")
            assert "Plan (strip tile" in text and "ambit_store_if_float_4(" in text, text
            assert "ambit_load_now_float_4(&v_w" in text and "ambit_load_float_4(&u_w" in text, text
            assert "ambit_load_now_float_4(&u_w" not in text, text


NVCC = LANGUAGE == "cuda" and (shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin"))
if LANGUAGE == "cuda":
    def nvcc_takes_them_too_without_a_warning():
        if not NVCC:
            raise tool.Skipped("nvcc is not installed")
        with tool.folder(heat_c=tool.HEAT) as f:
            for n, words in enumerate(([f / "heat.c"], ["star3d1", "--type", "double"])):
                tool.run("gen", "--cuda", *words, "-o", f / f"{n}.cu")
                r = subprocess.run([NVCC, "-arch=sm_90", "-cubin", f"{n}.cu"], cwd=f, capture_output=True, text=True)
                assert r.returncode == 0 and not r.stderr and (f / f"{n}.cubin").exists(), r.stderr


tool.main(globals())
