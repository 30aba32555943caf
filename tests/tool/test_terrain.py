# SPDX-License-Identifier: BSD-3-Clause
"""The example 20_terrain: its command line, the latitude of its files, and costs.

    test_terrain.py path/to/terrain
"""
import math, re

from tool import folder, main, refuses, run


def _asc(rows, **keys):
    head = {"ncols": len(rows[0]), "nrows": len(rows), "cellsize": 100, **keys}
    return "".join(f"{k} {v}\n" for k, v in head.items()) + "\n".join(" ".join(map(str, r)) for r in rows)


def _km(*words):
    return float(re.search(r"is ([0-9.]+) km long", run(*words)[0])[1])


FLAT = [[0] * 301 for _ in range(3)]


def wrong_arguments_are_refused():
    for words in (["--target", "abc"], ["--target", "-5,3"], ["--target", "5"], ["--target", "5,5,5"], ["--target"],
                  ["--from", "1;2"], ["--size", "0"], ["--size", "3x"], ["--latitude", "91"], ["-x"], ["--cost", ""]):
        refuses(*words, saying=["terrain: ", "usage: terrain"])
    refuses("--target", "400,3", saying="--target is 400,3; the terrain has rows 0 to 399 and columns 0 to 399", code=1)
    refuses("--from", "3,400", saying="--from is 3,400", code=1)
    refuses("nothing.asc", saying="cannot open nothing.asc", code=1)


def help_is_no_file():
    out, err = run("--help")
    assert out.startswith("usage: terrain") and "--from" in out and not err, (out, err)


def a_way_begins_where_the_user_says():
    with folder(flat_asc=_asc(FLAT)) as f:
        assert _km(f / "flat.asc", "--target", "1,300", "--from", "1,0", "--check") == 30.0
        assert _km(f / "flat.asc", "--target", "1,300", "--from", "1,200") == 10.0


def degrees_have_the_length_of_their_latitude():
    for latitude in (0, 60, -45):
        keys = {"xllcenter": 8, "yllcenter": latitude, "cellsize": 0.01}
        with folder(flat_asc=_asc(FLAT, **keys)) as f:
            km = _km(f / "flat.asc", "--target", "2,300", "--from", "2,0", "--check")
            want = 3 * 111.32 * math.cos(math.radians(latitude))
            assert abs(km - want) < 0.06 + 1e-4 * want, (latitude, km, want)


def files_without_a_place_get_the_latitude_of_the_option():
    with folder(flat_asc=_asc(FLAT, cellsize=0.01)) as f:
        where = [f / "flat.asc", "--target", "1,300", "--from", "1,0"]
        out, err = run(*where)
        assert "334.0 km" in out and "taking the equator (--latitude)" in err, (out, err)
        assert abs(_km(*where, "--latitude", "60") - 167) < 0.1


def costs_of_a_raster_are_taken_into_account():
    rate = [[1] * 301, [3] * 301, [3] * 301]
    with folder(flat_asc=_asc(FLAT), rate_asc=_asc(rate)) as f:
        where = [f / "flat.asc", "--cost", f / "rate.asc", "--target", "0,300", "--check"]
        assert "costs 30000\n" in run(*where, "--from", "0,0")[0]
        assert "costs 30182.8\n" in run(*where, "--from", "1,0")[0]  # first to the cheap row: 2 * 141.4
        (f / "rate.asc").write_text(_asc([[1] * 301, [-2] * 301, [3] * 301]))
        refuses(*where, saying="has -2 in cell 1,0; costs must be positive", code=1)
        (f / "rate.asc").write_text(_asc([[1], [1]]))
        refuses(*where, saying="rate.asc has 2 x 1 cells", code=1)


def walls_are_no_places():
    rows = [[5, -9999, 5], [5, -9999, 5]]
    with folder(wall_asc=_asc(rows)) as f:
        refuses(f / "wall.asc", saying="--target is 1,1, a cell without data", code=1)  # the middle
        refuses(f / "wall.asc", "--target", "0,1", saying="--target is 0,1, a cell without data", code=1)
        out, _ = run(f / "wall.asc", "--target", "0,0", "--from", "0,2", code=1)
        assert "from 0,2 to 0,0 does not exist" in out, out


main(globals())
