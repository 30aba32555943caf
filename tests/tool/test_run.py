#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit run` against NumPy."""
import shutil, struct, subprocess, zlib

import tool

np = tool.need_numpy()
GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def _mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def _start(shape, dtype, components=1):
    """The formula of docs/tool.md, in Python integers."""
    out = np.empty(shape + ((components,) if components > 1 else ()), dtype)
    for index in np.ndindex(*shape, components):
        h = 0
        for i in index:
            h = _mix((h + GOLDEN + i) & MASK)
        value = (h >> 40) / 2**24 if np.dtype(dtype).kind == "f" else h >> 63
        out[index if components > 1 else index[:-1]] = value
    return out


def _result(folder, *words):
    tool.run("run", *words, "-q", "--output", folder / "out.npy")
    return np.load(folder / "out.npy")


def _average(u):
    """One step of 2d4 with fixed faces."""
    v = u.copy()
    v[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    return v


def the_start_is_the_documented_hash():
    with tool.folder(vec_c="void vec(float *f[3]) { *f[0] = *f[0]; }") as f:
        for shape in ((7,), (5, 6), (3, 4, 5)):
            size = "x".join(map(str, shape))
            for kind, dtype in (("float", "f4"), ("double", "f8"), ("int", "i4"), ("u8", "u1")):
                got = _result(f, f"star{len(shape)}d1", "--size", size, "--type", kind, "--steps", 0)
                want = _start(shape, dtype)
                assert got.dtype == want.dtype and (got == want).all(), (shape, kind)
        got = _result(f, f / "vec.c", "--size", "4x3", "--steps", 0)
        assert (got == _start((4, 3), "f4", 3)).all()


def a_catalogue_stencil_is_what_numpy_computes():
    with tool.folder() as f:
        for device in ("cpu", "ref"):
            got = _result(f, "2d4", "--size", "21x34", "--type", "double", "--steps", 10,
                          "--device", device)
            want = _start((21, 34), "f8")
            for _ in range(10):
                want = _average(want)
            assert np.allclose(got, want, rtol=1e-13, atol=0), device


def boundaries_are_those_of_numpy_pad():
    modes = {"periodic": {"mode": "wrap"}, "reflect": {"mode": "reflect"},
             "symmetric": {"mode": "symmetric"}, "clamp": {"mode": "edge"},
             "constant=2.5": {"mode": "constant", "constant_values": 2.5}}
    with tool.folder() as f:
        for name, pad in modes.items():
            got = _result(f, "2d8", "--size", "9x8", "--type", "f64", "--steps", 3, "--boundary", name)
            u = _start((9, 8), "f8")
            for _ in range(3):
                p = np.pad(u, 1, **pad)
                u = sum((4 if i == 1 or j == 1 else 1) * p[i:i + 9, j:j + 8]
                        for i in range(3) for j in range(3) if (i, j) != (1, 1)) / 20
            assert np.allclose(got, u, rtol=1e-13), name


def each_axis_may_have_its_own_boundary():
    with tool.folder() as f:
        got = _result(f, "2d4", "--size", "6x7", "--type", "double", "--steps", 1,
                      "--boundary", "periodic,fixed")
        u = _start((6, 7), "f8")
        want = u.copy()
        want[:, 1:-1] = (np.roll(u, 1, 0) + np.roll(u, -1, 0))[:, 1:-1] / 4 + (u[:, :-2] + u[:, 2:]) / 4
        assert np.allclose(got, want, rtol=1e-13)


def a_kernel_file_runs_with_its_parameters_and_prints_its_reductions():
    with tool.folder(heat_c=tool.HEAT) as f:
        out, err = tool.run("run", f / "heat.c", "--size", "16x12", "--set", "k=0.2", "--steps", 2,
                            "--boundary", "periodic", "--strict", "-o", f / "out.npy")
        u = _start((16, 12), "f4")
        for _ in range(2):
            k, four = np.float32(0.2), np.float32(4)
            d = k * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - four * u)
            u = u + d
        assert (np.load(f / "out.npy") == u).all()
        name, value = out.strip().split(" = ")
        assert name == "change" and np.float32(value) == np.abs(d).max(), out
        assert "16x12" in err and "2 iterations" in err, err


def integers_start_as_0_and_1_so_life_lives():
    with tool.folder(life_c=tool.LIFE) as f:
        out, _ = tool.run("run", f / "life.c", "--size", "20x30", "--steps", 4, "--boundary", "periodic",
                          "-q", "-o", f / "out.npy")
        u = _start((20, 30), "i4")
        for _ in range(4):
            n = sum(np.roll(u, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - u
            u = ((n == 3) | ((n == 2) & (u == 1))).astype("i4")
        assert (np.load(f / "out.npy") == u).all() and out == f"alive = {u.sum()}\n", out


def a_weights_file_is_a_stencil():
    with tool.folder(my_weights="dims 2\ndivisor 4\nweight -1 0 1\nweight 1 0 1\nweight 0 -1 1\nweight 0 1 1\n") as f:
        a = _result(f, f / "my.weights", "--size", "30x31", "--strict")
        b = _result(f, "2d4", "--size", "30x31", "--strict")
        assert (a == b).all() and not (a == _start((30, 31), "f4")).all()


def input_gives_size_and_type():
    with tool.folder(vec_c="void vec(const double *f[2], double *g[2]) { g[0][0] = f[1][1]; g[1][0] = f[0][0]; }") as f:
        u = np.random.default_rng(1).random((11, 13))
        np.save(f / "in.npy", u)
        got = _result(f, "2d4", "--input", f / "in.npy", "--steps", 1)
        assert got.dtype == np.float64 and np.allclose(got, _average(u), rtol=1e-14)
        pairs = np.random.default_rng(2).random((9, 2))
        np.save(f / "pairs.npy", pairs)
        got = _result(f, f / "vec.c", "--input", f / "pairs.npy", "--steps", 1, "--boundary", "periodic")
        assert (got[:, 0] == np.roll(pairs[:, 1], -1)).all() and (got[:, 1] == pairs[:, 0]).all()
        tool.refuses("run", "2d4", "--input", f / "in.npy", "--size", "11x12", saying=["11x12", "11x13"])
        tool.refuses("run", "2d4", "--input", f / "in.npy", "--type", "float", saying=["double", "float"])
        tool.refuses("run", "3d6", "--input", f / "in.npy", saying="3 dimensions")
        tool.refuses("run", f / "vec.c", "--input", f / "in.npy", saying="components")
        tool.refuses("run", "2d4", "--input", f / "none.npy", saying="none.npy", code=1)


def one_field_is_updated_in_place():
    with tool.folder(half_c="void half(double *u) { *u = *u * 0.5; }") as f:
        got = _result(f, f / "half.c", "--size", "4x5", "--steps", 3)
        assert (got == _start((4, 5), "f8") / 8).all()


def a_run_until_stops_when_the_condition_holds():
    with tool.folder(heat_c=tool.HEAT) as f:
        heat = ["run", f / "heat.c", "--set", "k=0.2", "--size", "32^2", "--until"]
        out, err = tool.run(*heat, "change<1e-3")
        assert float(out.split("=")[1]) < 1e-3
        steps = int(err.split(" iterations")[0].split()[-1])
        assert steps > 1 and float(tool.run(*heat[:-1], "--steps", steps - 1)[0].split("=")[1]) >= 1e-3
        _, err = tool.run(*heat, "change<1e-3", "--check", 64)
        assert int(err.split(" iterations")[0].split()[-1]) == (steps + 63) // 64 * 64, err
        for unmet in ("change<1e-30", "change>=1e30", "change<=0"):
            _, err = tool.run(*heat, unmet, "--steps", 5, code=1)
            assert "after 5 iterations change is" in err and f": not {unmet}\n" in err, err
        assert f"{steps} iterations" in tool.run(*heat, "change<=1e-3")[1]
        tool.refuses(*heat, "chang<1", saying="did you mean 'change'?")
        tool.refuses(*heat, "change", saying="invalid condition 'change'")


def the_report_of_opencl_has_the_plan_of_several_iterations():
    if "opencl" not in tool.run("devices", "--quick")[0]:
        raise tool.Skipped("there is no OpenCL device")
    _, err = tool.run("run", "star2d1", "--size", "32x32", "--device", "opencl", "--report", AMBIT_PLAN="(fused", AMBIT_DEPTH="4")
    assert "all steps              (fused " in err, err
    assert "strict" not in err, err  # a warning for strict runs alone


def strict_runs_have_equal_bits_on_both_devices():
    with tool.folder() as f:
        words = ["box2d2", "--size", "50x47", "--strict", "--boundary", "reflect"]
        assert (_result(f, *words, "--device", "cpu") == _result(f, *words, "--device", "ref")).all()
        assert (_result(f, *words, "--threads", 1) == _result(f, *words, "--threads", 3)).all()


def the_reference_device_stands_alone():
    for devices in ("ref,cpu", "cpu,ref", "ref,ref", "ref:0,cpu:0", "ref*2", "cpu,cpu,ref"):
        tool.refuses("run", "star2d1", "--size", "64x64", "--device", devices, saying=[devices, "whole grid"], code=1)


def several_outputs_are_written_and_pictures_are_png():
    with tool.folder() as f:
        tool.run("run", "star2d1", "--size", "40x30", "-o", f / "a.npy", "-o", f / "b.png")
        assert np.load(f / "a.npy").shape == (40, 30)
        assert (f / "b.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        tool.refuses("run", "star2d1", "-o", f / "x.jpg", saying=".npy, .h5, .vtkhdf or .png")
        tool.refuses("run", "star2d1", "-i", f / "b.png", saying="`ambit stream` applies a stencil to a picture")
        tool.refuses("run", "4d8", "--size", "3^4", "-o", f / "x.png", saying=".npy", code=1)
        tool.refuses("run", "star2d1", "--size", "4x4", "-o", f / "none" / "x.npy", saying="none", code=1)


def outputs_every_n_iterations_are_numbered():
    with tool.folder(life_c=tool.LIFE) as f:
        tool.run("run", f / "life.c", "--size", "30x40", "--boundary", "periodic", "-n", 20, "--every", 8, "-q",
                 "-o", f / "u_%03d.npy", "-o", f / "p%d.png", "-o", f / "last.npy", "--colours", "viridis", "--range", "0:1")
        assert sorted(p.name for p in f.glob("*.npy")) == ["last.npy", "u_000.npy", "u_008.npy", "u_016.npy"]
        assert sorted(p.name for p in f.glob("*.png")) == ["p0.png", "p16.png", "p8.png"]
        tool.run("run", f / "life.c", "-i", f / "u_016.npy", "--boundary", "periodic", "-n", 4, "-q", "-o", f / "again.npy")
        assert np.array_equal(np.load(f / "again.npy"), np.load(f / "last.npy"))


def a_film_is_made_by_ffmpeg():
    with tool.folder(life_c=tool.LIFE) as f:
        words = ["run", f / "life.c", "--size", "31x41", "-n", 20, "--every", 2, "--rate", 10, "-q", "-o"]
        tool.run(*words, f / "film.y4m")
        assert (f / "film.y4m").read_bytes().count(b"FRAME\n") == 11
        if not shutil.which("ffmpeg"):
            raise tool.Skipped("there is no ffmpeg")
        tool.run(*words, f / "film.mp4")
        shown = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries",
                                "stream=width,height,pix_fmt,r_frame_rate,nb_read_frames", f / "film.mp4"],
                               capture_output=True, text=True, check=True).stdout.strip()
        assert shown == "492,372,yuv420p,10/1,11", shown
        assert sorted(p.name for p in f.iterdir()) == ["film.mp4", "film.y4m", "life.c"]


def mistakes_in_outputs_are_explained():
    with tool.folder() as f:
        for words, saying in [
            (["-o", f / "a_%d.npy"], "needs --every"), (["-o", f / "a.mp4"], "needs --every"),
            (["-o", f / "a_%s.npy", "--every", 2], "%06d"), (["--every", 2], "needs an output"),
            (["-o", f / "a.png", "--range", "1:0"], "the lower one first"), (["-o", f / "a.png", "--colours", "red"], "viridis"),
            (["-o", f / "a.png", "--field", "w"], "the kernel has u and v"), (["-o", f / "a.png", "--field", "u[1]"], "0 to 0"),
            (["-o", f / "a.y4m", "--every", 2, "--rate", 0], "at most 1000"),
        ]:
            tool.refuses("run", "star2d1", "--size", "20x20", *words, saying=saying)
        tool.refuses("run", "star2d1", "--size", "20x20", "-o", f / "a.png", "--slice", "z=3", saying="3 dimensions", code=1)
        assert not list(f.iterdir())


def the_report_names_speed_and_plan():
    _, err = tool.run("run", "star2d1", "--size", "64x64", "--report", "--ambit-trial=0")  # a trial may end with another plan
    assert "Gcells/s" in err and "GB/s" in err and "(rows" in err, err


def a_grid_too_small_to_update_is_told():
    assert "no cell is updated" in tool.run("run", "star2d1", "--size", "9x2")[1]
    for words in (("--size", "9x3"), ("--size", "9x2", "--boundary", "fixed,periodic")):
        assert "no cell" not in tool.run("run", "star2d1", *words)[1]


def quiet_says_nothing_and_there_is_no_progress_line_without_a_terminal():
    out, err = tool.run("run", "star2d1", "--size", "64x64", "-q")
    assert out == "" and err == "", out + err
    assert "\r" not in tool.run("run", "star2d1", "--size", "64x64")[1]


def a_maximum_is_no_forecast_of_the_remaining_time():
    for words, forecasts in ((["--steps", 9], True), (["--until", "change<1e-3"], False)):
        with tool.folder(heat_c=tool.HEAT) as f:
            _, err = tool.run("run", f / "heat.c", "--size", "16x16", "--set", "k=0.2", "--ambit-progress=1", *words)
        line = next(x for x in err.splitlines() if "iterations, " in x and "Gcells/s" in x)
        assert (" left" in line and " of " in line and "%" in line) == forecasts, line


def _write_picture(path, pixels):
    """A grey PNG of an array of bytes."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    h, w = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def a_mask_makes_a_sparse_grid():
    y, x = np.mgrid[:40, :60]
    mask = (y - 20) ** 2 + (x - 25) ** 2 < 300
    with tool.folder(life_c=tool.LIFE) as f:
        np.save(f / "mask.npy", mask)
        _write_picture(f / "mask.png", (mask * 200).astype(np.uint8))
        u = np.random.default_rng(3).integers(0, 2, mask.shape).astype(np.uint8)
        np.save(f / "in.npy", u)
        want = u * mask
        for _ in range(5):
            p = np.pad(want, 1)
            n = sum(p[1 + i:41 + i, 1 + j:61 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
            want = ((n == 3) | ((n == 2) & (want == 1))) * mask
        for name in ("mask.npy", "mask.png"):
            out, _ = tool.run("run", f / "life.c", "--mask", f / name, "--input", f / "in.npy", "--boundary", "constant=0",
                              "--steps", 5, "--output", f / "out.npy")
            assert (np.load(f / "out.npy") == want).all() and f"alive = {want.sum()}" in out, (name, out)
        tool.run("run", "star2d1", "--mask", f / "mask.png", "-q")
        tool.refuses("run", "star2d1", "--mask", f / "mask.png", "--size", "40x60", saying="leave out --size")
        tool.refuses("run", "star3d1", "--mask", f / "mask.png", saying="3 dimensions")
        np.save(f / "other.npy", u[1:])
        tool.refuses("run", f / "life.c", "--mask", f / "mask.png", "-i", f / "other.npy", saying="the mask has 40x60")


def all_devices_can_be_asked_for():
    for name in ("all", "auto"):
        _, err = tool.run("run", "star2d1", "--size", "64x64", "--device", name, "--ambit-report=1")
        assert ": 10 iterations in" in err, err


def bad_values_are_explained():
    for words, saying in ((["--size", "64"], ["2 dimensions", "64 has 1"]),
                          (["--size", "64x0"], "axis 1"), (["--size", "64xx64"], "64x64"),
                          (["--size", "-3x3"], "invalid size"), (["--size", "8^7"], "invalid size"),
                          (["--size", "9999999^2x9999999"], "too many cells"),
                          (["--size", "99999999999999999999x2"], "invalid size"),
                          (["--steps", "-1"], "must be an integer"), (["--steps", "ten"], "must be an integer"),
                          (["--type", "quarter"], "unknown type 'quarter'"), (["--device", "gpu"], "cpu, cuda, opencl, ref"),
                          (["--boundary", "peridic"], "did you mean 'periodic'?"),
                          (["--boundary", "antisymetric"], "did you mean 'antisymmetric'?"),
                          (["--boundary", "fixed,fixed,fixed"], "3 boundaries for 2 axes"),
                          (["--boundary", "constant"], "constant=0.5"), (["--boundary", "none"], "unknown boundary 'none'"),
                          (["--boundary", "fixed=1"], "takes no value"), (["--threads", "many"], "threads"),
                          (["--set", "k"], "invalid setting 'k'"), (["--set", "k=1"], "no plain parameter 'k'"),
                          (["--until", "change<1"], "no reduction 'change'; one is a parameter such as max"),
                          (["other"], "two stencils")):
        tool.refuses("run", "star2d1", *words, saying=saying)
    tool.refuses("run", saying="the stencil is missing")
    tool.refuses("run", "star2d", saying="star2d", code=1)
    with tool.folder(heat_c=tool.HEAT) as f:
        r = subprocess.run([tool.AMBIT, "run", "heat"], cwd=f, capture_output=True, text=True, timeout=tool.SOON)
        assert r.returncode == 1 and "nearest" not in r.stderr and "the kernel file heat.c" in r.stderr, r


def long_numbers_and_names_are_read_whole():
    name = "a" * 200
    with tool.folder(long_c=f"void k(const float *u, float *v, float {name}) {{ *v = u[1] * {name}; }}") as f:
        for zeros in (1, 58, 300):
            number = "1." + "0" * zeros + "e2"
            got = _result(f, "2d4", "--size", "8x8", "--boundary", f"constant={number}", "--steps", 1)
            assert (got == _result(f, "2d4", "--size", "8x8", "--boundary", "constant=100", "--steps", 1)).all(), zeros
        tool.refuses("run", "2d4", "--boundary", "constant=" + "1" * 400, saying="needs a number")
        tool.run("run", f / "long.c", "--size", 9, "--set", f"{name}=1.{'0' * 200}1", "--boundary", "periodic")
        tool.run("explain", f / "long.c", "--size", 9)


def nul_bytes_do_not_end_a_file_silently():
    with tool.folder(heat_c=tool.HEAT + "\0 and more", my_weights="dims 1\nweight 1 1\n\0weight 2 1\n") as f:
        tool.refuses("run", f / "heat.c", "--set", "k=0.2", saying=["heat.c:8", "NUL"], code=1)
        tool.refuses("run", f / "my.weights", saying=["my.weights:3", "NUL"], code=1)
        (f / "wide.c").write_bytes(tool.HEAT.encode("utf-16"))
        tool.refuses("run", f / "wide.c", saying=["wide.c:2", "NUL"], code=1)


def kernels_that_do_not_fit_are_explained():
    with tool.folder(heat_c=tool.HEAT, bad_c="void bad(const float *u, float *v) { v[0] = w; }",
                     three_c="void three(const float *a, const float *b, float *c) { *c = *a + *b; }",
                     types_c="void types(const float *a, double *b) { *b = *a; }",
                     none_c="void none(float k, sum float *s) { *s = k; }",
                     wrong_weights="dims 2\nweight 1 2\n") as f:
        tool.refuses("run", f / "heat.c", saying="add --set k=...")
        tool.refuses("run", f / "heat.c", "--set", "K=1", saying="did you mean 'k'?")
        tool.refuses("run", f / "heat.c", "--type", "double", saying=["double", "float"])
        tool.refuses("run", f / "bad.c", saying=["bad.c:1", "w"], code=1)
        tool.refuses("run", f / "three.c", saying="3 fields")
        tool.refuses("run", f / "types.c", saying="same type")
        tool.refuses("run", f / "none.c", saying="no field")
        tool.refuses("run", f / "wrong.weights", saying="wrong.weights:2", code=1)
        tool.refuses("run", f / "missing.c", saying="missing.c", code=1)


def it_works_without_a_compiler():
    with tool.folder(heat_c=tool.HEAT) as f:
        words = [f / "heat.c", "--set", "k=0.2", "--size", "20x20", "--strict"]
        assert (_result(f, *words, "--ambit-cc=none") == _result(f, *words)).all()


tool.main(globals())
