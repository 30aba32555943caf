#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names in kernels: users can choose them freely; generated code has none that could collide."""
import os, pathlib, re, shutil, subprocess

import tool

np = tool.need_numpy()
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"
CC = [shutil.which("cc"), "-std=gnu11", "-fopenmp-simd", "-fwrapv", f"-I{SOURCE.parent / 'include'}"]

# Words of C, C++, CUDA and OpenCL; names of their libraries and of code around kernels.
WORDS = """
bool true false NULL asm typeof class new delete this template operator private public namespace using throw try catch
explicit export mutable typename typeid and or not xor bitand bitor compl and_eq alignas alignof constexpr decltype
noexcept nullptr thread_local wchar_t static_assert kernel global local constant half uchar ushort uint ulong size_t
ptrdiff_t intptr_t int8_t uint8_t int64_t linux unix I errno assert main event_t image2d_t sampler_t read_only
write_only pipe uniform threadIdx blockIdx blockDim gridDim warpSize generic float4 int2 double2 half2 printf malloc
memcpy step index extent call origin stride lo hi x y z i j k n t u v y0 x0 x1 i0 i1 b0 b1 n0 n1 sum min max words
_ __ _v __LINE_ __FILE_ __DATE_ __func_ __restrict_ __x86_64_ __attribute_ __builtin_inf __int128 _x _Float16 _Pragma
ambit ambit_ ambit_compiled_call ambit_kernel ambit_part ambit_cell ambit_v AMBIT AMBIT_VECTOR ambit__x xambit_part
""".split()
LANGUAGE = set("""
void const float double int char short long signed unsigned if else for while do goto switch case default break continue
return sizeof struct union enum typedef static extern auto register volatile restrict inline _Bool _Complex _Imaginary
_Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert _Thread_local""".split())


def _own_names():
    """The words, and all names of the fixed parts of generated code."""
    found = set(WORDS)
    for path in sorted((SOURCE / "codegen/prelude").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        found |= set(re.findall(r"\b[A-Za-z_]\w*", text))
    return sorted(found - LANGUAGE)


def _names():
    """These, and the macros of the compiler."""
    found = set(_own_names())
    macros = subprocess.run([shutil.which("cc"), "-dM", "-E", "-include", "math.h", "-include", "stdint.h", "-x", "c",
                             "-"], input="", capture_output=True, text=True, check=True).stdout
    found |= set(re.findall(r"#define (\w+)", macros))
    # without its last character, a local of this name would become the macro
    found |= {n[:-1] for n in found if n.endswith("_") and len(n) > 1}
    return sorted(found - LANGUAGE)


def _locals(names):
    lines = "".join(f"  float {n} = {i}.0f + our_cell;\n  our_sum += {n} * {i + 1}.0f;\n" for i, n in enumerate(names))
    return ("void locals(const float *our_in, float *our_out)\n"
            f"{{\n  float our_cell = our_in[0][1], our_sum = 0;\n{lines}  *our_out = our_sum;\n}}\n")


def _values(names):
    values, total = "".join(f", float {n}" for n in names), " + ".join(names)
    return (f"void values(const float *our_in, float *our_out{values})\n"
            f"{{\n  *our_out = *our_in + {total} + our_in[0][1];\n}}\n")


def _pointers(names):
    """Kernels with fields and reductions of these names: the last written, the one before reduced."""
    reads = "".join(f"const float *{n}, " for n in names[:-2])
    total = " + ".join(f"{n}[0][-1]" for n in names[:-2])
    return (f"void pointers({reads}max double *{names[-2]}, float *{names[-1]})\n"
            f"{{\n  *{names[-1]} = {total};\n  *{names[-2]} = *{names[-1]};\n}}\n")


def _groups(names, size=30):
    """In make check, an eighth of them."""
    groups = [names[at:at + size] for at in range(0, len(names) - 1, size)]
    return groups if "AMBIT_TEST_LONG" in os.environ else groups[::8]


def _check(folder, text, settings, device):
    (folder / "k.c").write_text(text)
    words = ["run", folder / "k.c", "--size", "6x9", "--boundary", "periodic", "-q", "--strict"]
    words += [w for n, x in settings.items() for w in ("--set", f"{n}={x}")]
    tool.run(*words, "--device", "ref", "-o", folder / "ref.npy")
    _, err = tool.run(*words, "--device", device, "-o", folder / "out.npy", XDG_CACHE_HOME=folder / "cache")
    assert "without being compiled" not in err, err
    assert (np.load(folder / "ref.npy") == np.load(folder / "out.npy")).all(), text


def _check_words(device):
    with tool.folder() as f:
        _check(f, _locals(WORDS), {}, device)
        for few in _groups(WORDS):
            _check(f, _values(few), {n: i + 1 for i, n in enumerate(few)}, device)


def _compile(folder, text, *options, command):
    (folder / "k.c").write_text(text)
    tool.run("gen", folder / "k.c", *options, "-o", folder / "gen.c")
    subprocess.run([*command, folder / "gen.c"], check=True)


def kernels_can_have_any_name():
    with tool.folder() as f:
        for n in ("stream", "call", "vector", "put", "u8", "div_i32", "cell", "kernel", "errno", "class",
                  "__DATE__", "_", "cpu_x", "ambit_cpu_x", "x" * 240):
            _check(f, f"void {n}(const float *u, float *v) {{ *v = u[0][1] + u[1][0] / 4; }}\n", {}, "cpu")


def parameters_and_locals_can_have_any_name():
    _check_words("cpu")
    with tool.folder() as f:
        _compile(f, _locals(_names()), command=CC + ["-fsyntax-only"])
        for few in _groups(_own_names()):
            if len(few) > 2:
                _compile(f, _pointers(few), command=CC + ["-fsyntax-only"])


def they_can_on_gpus():
    if "opencl" in tool.run("devices", "--quick")[0]:
        _check_words("opencl")
    if shutil.which("nvcc"):
        with tool.folder() as f:
            _compile(f, _pointers(WORDS[-30:]), "--cuda", command=["nvcc", "-x", "cu", "-ptx", "-o", os.devnull])


def users_keep_the_names_of_parameters():
    with tool.folder() as f:
        (f / "k.c").write_text("void k(const float *I, float *ambit_part, float errno, max float *sqrtf)\n"
                               "{ *ambit_part = *I * errno; *sqrtf = *ambit_part; }\n")
        out, _ = tool.run("run", f / "k.c", "--size", 8, "--set", "errno=2", "--until", "sqrtf>1")
        assert "sqrtf = 1." in out, out
        tool.refuses("run", f / "k.c", "--size", 8, "--set", "erno=2", saying="did you mean 'errno'?")


def a_generated_file_can_have_any_name():
    with tool.folder() as f:
        for n in ("fn", "cpu", "source", "class", "kernel_text", "x" * 120):
            _compile(f, f"void {n}(const float *u, float *v) {{ *v = u[0][1]; }}\n", command=CC + ["-fsyntax-only"])
        for n in ("fn", "cpu", "source"):
            tool.refuses("gen", f / "k.c", "--name", n, saying="ambit.h uses already")


if __name__ == "__main__":
    tool.main(globals())
