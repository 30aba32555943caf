#!/usr/bin/env python3
"""`ambit explain`: facts that can be worked out by hand."""
import os, shutil, subprocess

import tool


def a_star_is_drawn_and_counted():
    out, _ = tool.run("explain", "star2d1", "--size", "1000x500")
    assert "\n      . o .\n      o O o\n      . o .\n" in out, out
    assert "read at 5 cells" in out and "axis 0: 1 low, 1 high" in out, out
    assert "(-1,0) (0,-1) (0,0) (0,1) (1,0)" in out, out
    assert "9 floating-point operations, 8 bytes" in out, out
    assert "998x498 cells are updated" in out, out


def an_unread_centre_and_one_sided_reads_are_shown():
    out, _ = tool.run("explain", "2df5")
    assert "\n      . . o\n      . o o\n      o o x\n" in out and "2 low, 0 high" in out, out


def space_is_drawn_plane_by_plane():
    out, _ = tool.run("explain", "3d6", "--size", "10x11x12", "--boundary", "periodic")
    assert out.count("along axis 0:") == 3 and "10x11x12 cells are updated" in out, out


def memory_counts_every_field():
    out, _ = tool.run("explain", "star3d1", "--type", "double", "--size", "128^3")
    mib = float(out.split("memory ")[1].split()[0])
    assert 32 <= mib < 40 and "2 fields" in out, out


def the_plan_is_the_one_that_runs():
    for size in ("64x64", "512x2048"):
        plan = tool.run("explain", "star2d1", "--size", size)[0].split("plan on")[1].split("\n")[1].strip()
        assert plan.startswith("(rows") and plan in tool.run("run", "star2d1", "--size", size, "--report")[1]


def the_text_of_the_kernel_is_shown():
    with tool.folder(heat_c=tool.HEAT) as f:
        out, _ = tool.run("explain", f / "heat.c")
        for part in ("void heat(const float *u, float *v, float k, max float *change)",
                     "k: float, a plain parameter", "change: float, the max over all cells"):
            assert part in out, out


def doubtful_kernels_are_warned_about():
    with tool.folder(mix_c="void mix(const float *u, float *v) { v[0] = 0.25 * u[1]; }",
                     self_c="void self(float *u) { u[0] = u[1]; }") as f:
        assert "computes in double" in tool.run("explain", f / "mix.c")[0]
        assert "read at a neighbour and written" in tool.run("explain", f / "self.c")[0]
        assert "warning" not in tool.run("explain", "star1d1")[0]


def the_source_compiles():
    cc = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    with tool.folder(heat_c=tool.HEAT) as f:
        out, _ = tool.run("explain", f / "heat.c", "--source")
        assert "void ambit_kernel(const ambit_call *call)" in out
        if cc:
            (f / "source.c").write_text(out)
            subprocess.run([cc, "-std=gnu11", "-fopenmp-simd", "-c", f / "source.c", "-o", f / "source.o"],
                           check=True)


tool.main(globals())
