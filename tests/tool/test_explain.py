#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit explain`: facts that can be computed by hand."""
import os, re, shutil, subprocess, tempfile

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
    assert 32 <= mib < 42 and "2 fields" in out, out


def _write_mask(path, rows):
    """A NumPy file of a mask in two dimensions."""
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head = head.ljust(127 - 10) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        f.write(bytes(x for row in rows for x in row))


def a_mask_shows_what_a_sparse_grid_takes():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mask.npy")
        _write_mask(path, [[16 <= y < 48 and 20 <= x < 120 for x in range(200)] for y in range(64)])
        out, _ = tool.run("explain", "star2d1", "--mask", path)
        assert "grid 64x200, if it were dense" in out and "plan on" not in out and "3200 active cells, 25 % of the box, in 32 runs" in out, out
        memory = {name: float(mib) for name, mib in re.findall(r"\n  (runs|list) +([0-9.]+) MiB", out)}
        values = 3200 * 8 / 2**20
        assert values < memory["list"] < memory["runs"] < 1.8 * values, out
        assert "table of 0.0" in out and len(re.findall("and a table of", out)) == 2, out
        moved = [[float(n) for n in pair] for pair in re.findall(r"([0-9.]+) bytes moved per active cell on cores, ([0-9.]+) on a GPU", out)]
        assert len(moved) == 2 and all(8 < n < 15 for n in moved[0]), out
        assert 20 <= moved[1][1] < 20.1, out  # a list: eight bytes of values, the places of two neighbours, and bits
        assert "auto is runs on cores: no other is clearly faster" in out and "auto is runs on a GPU" in out, out
        assert "parts" not in out.split("sparse grid")[1] and "launch  star2d1, all cells: part 0 [1,63)x[1,199)" in out, out
        assert "a dense grid with a mask field would take 0.1099 MiB, and move 36 bytes per active cell" in out and "probably" not in out, out
        out, _ = tool.run("explain", "star2d1", "--mask", path, "--parts", "4")
        assert "4 parts of 800 to 800 active cells, 0 % more than the mean" in out, out
        out, _ = tool.run("explain", "star2d1", "--mask", path, "--processes", "2", "--device", "cuda:0,cuda:1", "--weights", "1,3,1,3")
        assert "4 parts of 400 to 1200 active cells, at most 0 % more than their shares" in out, out
        assert "  sent between processes: 2 messages, 800 bytes" in out and "part 0 to 1 (400 bytes)" in out, out  # of 100 cells of a row
        _, err = tool.run("explain", "star2d1", "--mask", path, "--source", code=2)
        assert "--source is that of a dense grid: leave out --mask" in err, err
        out, _ = tool.run("explain", "star2d1", "--mask", path, "--processes", "2", "--graph", "-")
        assert out.startswith("digraph") and "send from part 0 to 1\\n400 bytes" in out, out
        _write_mask(path, [[(7 * y + x) % 11 == 0 for x in range(200)] for y in range(64)])
        out, _ = tool.run("explain", "star2d1", "--mask", path)
        found = re.search(r"auto is list on cores: estimated at 0\.\d+ of the time of runs; at most ([\d.]+) MiB", out)
        assert found and float(found[1]) == float(re.search(r"  list   ([\d.]+) MiB", out)[1]), out
        assert re.search(r"auto is list on a GPU: estimated at 0\.\d+ of the time of runs", out), out
        _write_mask(path, [[hash((x * 7919 + y) * 104729 % 1000003) % 2 for x in range(200)] for y in range(64)])
        out, _ = tool.run("explain", "star2d1", "--mask", path)
        assert "it is probably faster on cores: the cells are scattered" in out, out
        _, err = tool.run("explain", "star2d1", "--mask", path, "--size", "64x64", code=2)
        assert "leave out --size" in err, err


def the_plan_is_the_one_that_runs():
    same = "--ambit-machine=xeon16"  # another test may measure this one between the two
    for size in ("64x64", "512x2048"):
        plan = tool.run("explain", "star2d1", "--size", size, same)[0].split("plan on")[1].split("\n")[1].strip()
        report = tool.run("run", "star2d1", "--size", size, "--report", same, "--ambit-trial=0")[1]  # a trial may end with another
        assert plan.startswith("(rows") and plan in report, (plan, report)


def the_text_of_the_kernel_is_shown():
    with tool.folder(heat_c=tool.HEAT) as f:
        out, _ = tool.run("explain", f / "heat.c")
        for part in ("void heat(const float *u, float *v, float k, max float *change)",
                     "k: float, a plain parameter", "change: float, the max over all cells"):
            assert part in out, out


def a_fold_is_shown_as_one():
    with tool.folder(k_c="static int f(int a, int b) { return a | b; }\nvoid k(const int *u, fold(f, 0) int *s) { *s = *u; }\n") as f:
        assert "  s: int, the fold over all cells\n" in tool.run("explain", f / "k.c")[0]


def doubtful_kernels_are_warned_about():
    with tool.folder(mix_c="void mix(const float *u, float *v) { v[0] = 0.25 * u[1]; }",
                     self_c="void self(float *u) { u[0] = u[1]; }") as f:
        assert "computes in double" in tool.run("explain", f / "mix.c")[0]
        assert "read at a neighbour and written" in tool.run("explain", f / "self.c")[0]
        assert "warning" not in tool.run("explain", "star1d1")[0]


def the_source_compiles():
    cc = os.environ.get("CC", "cc").split()
    with tool.folder(heat_c=tool.HEAT) as f:
        out, _ = tool.run("explain", f / "heat.c", "--source")
        assert "void ambit_kernel(const ambit_compiled_call *call)" in out
        if not shutil.which(cc[0]):
            raise tool.Skipped("there is no C compiler")
        (f / "source.c").write_text(out)
        subprocess.run([*cc, "-std=gnu11", "-fopenmp-simd", "-c", f / "source.c", "-o", f / "source.o"], check=True)


def _messages(*words):
    """(from, to): (bytes, way, [boxes]) of all messages, which must be few, and the last lines, with totals."""
    out, _ = tool.run("explain", *words)
    lines = out.split("messages in each iteration\n")[1].split("schedule of")[0].splitlines()
    found = {}
    for line in lines:
        m = re.match(r"  part (\d+) -> (\d+): (\d+) bytes, ([a-z ]+): (.*)", line)
        if m:
            found[int(m[1]), int(m[2])] = int(m[3]), m[4], m[5].split(", ")
    return found, [line.strip() for line in lines if "->" not in line]


FOUR = ("--size", "8x8", "--partition", "2x2", "--boundary", "clamp")


def a_star_sends_sides_and_no_corners():
    found, totals = _messages("star2d1", *FOUR, "--processes", "4")
    assert found == {
        (0, 1): (16, "sent", ["u[0,4)x[3,4)"]), (0, 2): (16, "sent", ["u[3,4)x[0,4)"]),
        (1, 0): (16, "sent", ["u[0,4)x[4,5)"]), (1, 3): (16, "sent", ["u[3,4)x[4,8)"]),
        (2, 0): (16, "sent", ["u[4,5)x[0,4)"]), (2, 3): (16, "sent", ["u[4,8)x[3,4)"]),
        (3, 1): (16, "sent", ["u[4,5)x[4,8)"]), (3, 2): (16, "sent", ["u[4,8)x[4,5)"])}, found
    assert totals == ["sent between processes: 8 messages, 128 bytes", "process 0 sends most: 32 bytes"], totals


def a_box_sends_corners_too():
    found, totals = _messages("box2d1", *FOUR, "--processes", "4")
    assert found[0, 3] == (8, "sent", ["u[3,4)x[3,4)"]), found  # one float, padded to a multiple of 8
    assert len(found) == 12 and totals[0] == "sent between processes: 12 messages, 160 bytes", totals


def a_stencil_that_looks_one_way_sends_one_way():
    found, _ = _messages("2df5", "--size", "8x8", "--partition", "2x2", "--processes", "4")
    assert sorted(found) == [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)], found
    assert found[1, 3] == (32, "sent", ["u[2,4)x[4,8)"]), found


def _d3q19():
    """A kernel that streams 19 populations, each from one neighbour."""
    axis = (-1, 0, 1)
    moves = [(z, y, x) for z in axis for y in axis for x in axis if abs(z) + abs(y) + abs(x) <= 2]
    lines = [f"  *g[{i}] = f[{i}][{-z}][{-y}][{-x}];\n" for i, (z, y, x) in enumerate(moves)]
    return "void stream(const double *f[19], double *g[19])\n{\n" + "".join(lines) + "}\n"


def of_nineteen_populations_five_cross_a_face():
    with tool.folder(d3q19_c=_d3q19()) as f:
        out, _ = tool.run("explain", f / "d3q19.c", "--size", "128^3", "--processes", "2",
                          "--boundary", "clamp,periodic,periodic")
    assert "part 0 -> 1: 655360 bytes" in out and "part 1 -> 0: 655360 bytes" in out, out
    assert "begin   f (18 of 19 components): part 0 to 1 (655360 bytes)" in out, out


def what_stays_in_a_process_or_on_a_device_is_told_apart():
    found, totals = _messages("star2d1", *FOUR, "--processes", "2", "--device", "cuda:0,cuda:1")
    assert {pair: m[1] for pair, m in found.items()} == {
        (0, 1): "handed over", (1, 0): "handed over", (2, 3): "handed over", (3, 2): "handed over",
        (0, 2): "sent", (2, 0): "sent", (1, 3): "sent", (3, 1): "sent"}, found
    found, totals = _messages("star2d1", *FOUR, "--parts", "4")
    assert {m[1] for m in found.values()} == {"copied"}, found
    assert totals == ["copied within a device: 8 boxes, 128 bytes"], totals
    found, totals = _messages("star1d1", "--size", "2", "--processes", "2")
    assert found == {} and totals == ["none: no part reads cells of another"], totals  # both cells are fixed


def parts_are_listed_and_drawn():
    out, _ = tool.run("explain", "star2d1", "--size", "310x64", "--device", "cuda,cpu", "--weights", "30,1")
    assert "predicted gain, if the weights are the speeds: 3.3 % over cuda:0 alone" in out, out
    out, _ = tool.run("explain", "star2d1", "--size", "4x8", "--parts", "2", "--partition", "1x2", "--weights", "3,1")
    assert "     0        0  cpu:0             24   75.0 %  [0,4)x[0,6)\n" in out, out
    assert "     1        0  cpu:0              8   25.0 %  [0,4)x[6,8)\n" in out, out
    assert "\n\n" + 4 * "  00000011\n" + "\n" in out, out


def _order(*words):
    out, _ = tool.run("explain", "star1d1", "--size", "32", "--processes", "2", *words)
    return [re.sub(r" {2,}", " ", line).strip() for line in out.split("schedule of an iteration")[1].splitlines()[1:]]


def the_order_shows_what_hides_messages():
    assert _order("--overlap", "none") == [
        "1 begin u: part 0 to 1 (8 bytes)", "2 edges u: ghost cells that are copies of own cells",
        "3 finish u: part 0 from 1 (8 bytes); and ghost cells that wait for them",
        "4 launch star1d1, all cells: part 0 [1,16)", "5 rotate u, v"], _order("--overlap", "none")
    assert _order("--overlap", "standard", "--process", "1") == [
        "1 begin u: part 1 to 0 (8 bytes)", "2 edges u: ghost cells that are copies of own cells",
        "3 launch star1d1, inner cells: part 1 [17,31)",
        "4 finish u: part 1 from 0 (8 bytes); and ghost cells that wait for them",
        "5 launch star1d1, border cells: part 1 [16,17)", "6 rotate u, v"], _order("--overlap", "standard")
    assert _order("--process", "1") == _order("--overlap", "standard", "--process", "1"), _order()


def reductions_are_exchanged():
    with tool.folder(heat_c=tool.HEAT) as f:
        assert "reduce  change\n" in tool.run("explain", f / "heat.c", "--processes", "2")[0]
        assert "reduce  change" not in tool.run("explain", f / "heat.c")[0]


def a_thousand_processes_are_pretended_at_once():
    out, _ = tool.run("explain", "box3d1", "--size", "4096^3", "--processes", "1000", "--partition", "10x10x10",
                      "--process", "999")
    assert "parts: 1000, in 1000 processes" in out and "and 984 more of" in out, out
    assert "sent between processes: 20952 messages" in out and "and 20936 more" in out, out  # 28^3 - 10^3
    assert "schedule of an iteration of process 999" in out, out


def wrong_questions_are_refused():
    tool.refuses("explain", "star1d1", "--processes", "2", "--process", "2", saying="there are 2 processes")
    tool.refuses("explain", "star1d1", "--parts", "0", saying="--parts")
    tool.refuses("explain", "star1d1", "--device", "toaster", saying="no device is called 'toaster'")
    with tool.folder(self_c="void self(float *u) { u[0] = u[1]; }") as f:
        tool.refuses("explain", f / "self.c", "--graph", "-", saying="cannot run kernel self")


def _graph(*words):
    """Labels of nodes, and edges as pairs of numbers."""
    dot, _ = tool.run("explain", *words, "--graph", "-")
    nodes = [m[1].replace("\\n", " ") for m in re.finditer(r'^  n\d+ \[.*label="(.*)"\];$', dot, re.M)]
    return nodes, {(int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+);$", dot, re.M)}, dot


def _reach(edges, n):
    """Pairs connected by a path of any length."""
    way = set(edges)
    for k in range(n):
        way |= {(a, b) for a, m in way if m == k for k2, b in way if k2 == k}
    return way


def the_graph_has_what_must_wait_and_nothing_else():
    nodes, edges, _ = _graph("star1d1", "--size", "16", "--processes", "2")
    assert nodes == ["begin: send from part 0 to 1 8 bytes", "star1d1, inner cells part 0 [1,7)",
                     "finish: receive at part 0 from 1 8 bytes", "star1d1, border cells part 0 [7,8)",
                     "rotate u v"], nodes
    assert edges == {(2, 3), (3, 4), (1, 4), (0, 4)}, edges


def graphs_have_no_cycle_and_no_edge_too_many():
    for words in (("box2d1", "--size", "12x12", "--parts", "9", "--partition", "3x3", "--boundary", "reflect"),
                  ("star2d2", "--size", "12x12", "--device", "cuda:0,cuda:1", "--processes", "2", "--boundary", "periodic"),
                  ("2df5", "--size", "12x12", "--processes", "4", "--overlap", "none")):
        nodes, edges, _ = _graph(*words)
        way = _reach(edges, len(nodes))
        assert nodes and edges and not any(a == b for a, b in way), words
        for a, b in edges:
            assert not any((a, m) in way and (m, b) in way for m in range(len(nodes))), (words, a, b)
        launches = [i for i, n in enumerate(nodes) if "cells part" in n]
        assert all((i, len(nodes) - 1) in way for i in launches) and nodes[-1] == "rotate u v", words


def what_a_part_gets_from_another_on_the_spot_waits_for_it():
    nodes, edges, _ = _graph("star1d1", "--size", "16", "--device", "cuda:0,cuda:1")
    find = lambda words: next(i for i, n in enumerate(nodes) if n.startswith(words))
    assert (find("begin: send from part 0 to 1"), find("finish: receive at part 1 from 0")) in edges, (nodes, edges)


def devices_reduce_without_waiting_for_each_other():
    with tool.folder(heat_c=tool.HEAT) as f:
        nodes, edges, _ = _graph(f / "heat.c", "--size", "64x64", "--device", "cuda:0,cuda:1", "--overlap", "none")
    launches = [i for i, n in enumerate(nodes) if n.startswith("heat, all")]
    reduce = nodes.index("reduce change")
    way = _reach(edges, len(nodes))
    assert len(launches) == 2 and all((i, reduce) in way for i in launches), (nodes, edges)
    assert (launches[0], launches[1]) not in way, (nodes, edges)


def graphviz_draws_it():
    if not shutil.which("dot"):
        raise tool.Skipped("Graphviz is not installed")
    with tool.folder() as f:
        tool.run("explain", "star2d1", "--processes", "4", "--graph", f / "g.dot")
        svg = subprocess.run(["dot", "-Tsvg", f / "g.dot"], check=True, capture_output=True, text=True).stdout
        assert "rotate u v" in svg


def a_gpu_that_is_not_here_has_a_plan_for_several_iterations():
    out, _ = tool.run("explain", "star2d1", "--size", "16384x16384", "--device", "cuda")
    assert re.search(r"schedule of 12 iterations\n   1  fused   12 stages in one launch \(fused sum 4x12", out), out
    out, _ = tool.run("explain", "star3d2", "--size", "512^3", "--device", "cuda")
    assert "iterations run one by one: no depth is estimated to be faster" in out, out
    out, _ = tool.run("explain", "star2d1", "--size", "16384x16384", "--device", "opencl")
    assert re.search(r"schedule of 12 iterations\n   1  fused   12 stages in one launch \(fused sum 4x12", out), out
    assert "plan on an NVIDIA H200, in OpenCL\n  (strip " in out, out
    out, _ = tool.run("explain", "star3d1", "--size", "512^3", "--device", "opencl")
    assert re.search(r"schedule of \d iterations\n   1  fused   \d stages in one launch \(fused sum 4x", out), out


def cells_of_one_colour_in_place_have_a_schedule():
    with tool.folder(gs_c="void gs(float *u) { if ((index(0) + index(1)) % 2) *u = 0.5f * (u[-1][0] + u[0][1]); }") as f:
        out, _ = tool.run("explain", f / "gs.c", "--size", "64x64", "--device", "cpu", AMBIT_DEPTH="4")
        assert "schedule of 4 iterations\n   1  wave    4 stages in one pass over the cells (wavefront depth 4" in out, out
        assert "\nschedule of an iteration\n   1  launch  gs, all" in out, out


def small_grids_have_a_cell_per_thread():
    for size, plan in (("80^3", "(cells "), ("96^3", "(strip ")):
        out, _ = tool.run("explain", "star3d1", "--size", size, "--device", "cuda", AMBIT_DEPTH="1")
        assert f"plan on an NVIDIA H200, in CUDA\n  {plan}" in out, out


def a_plan_can_be_forced():
    out, _ = tool.run("explain", "star2d1", "--size", "4096^2", "--device", "cuda", AMBIT_PLAN="(fused window 4x6")
    assert "6 stages in one launch (fused window 4x6 " in out, out
    _, err = tool.run("explain", "star2d1", "--size", "4096^2", "--device", "cuda", code=1, AMBIT_PLAN="(fsed")
    assert "no plan of the program begins like that: there are (strip " in err and "(fused sum " in err, err
    out, _ = tool.run("explain", "star2d1", "--size", "4096^2", "--device", "cuda", AMBIT_PLAN="(cells")
    assert "plan on an NVIDIA H200, in CUDA\n  (cells " in out, out
    _, err = tool.run("explain", "star2d1", "--size", "4096^2", "--device", "cpu", code=1, AMBIT_PLAN="(rwos")
    assert "no plan of the program begins like that: there are (rows " in err, err


tool.main(globals())
