#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares small simulations with the formulas of the model: bench/scaling/check.py BUILD

On one process an iteration is a kernel. On two without overlap, it is a kernel, copies and a message. On two with overlap and
enough computation, it is the kernel of the inner cells plus the memory time of the border.
"""
import math, sys, xml.etree.ElementTree

from simulate import CALL, HERE, simulate

ROWS = 16384  # and columns; of 2d4, with fixed faces
SECTOR = 32   # bytes: see model.c
FLOAT = 4


class Cluster:
    def __init__(self, name):
        tree = xml.etree.ElementTree.parse(HERE / f"{name}.xml").find("cluster")
        units = {"GBps": 1e9, "ns": 1e-9}
        for key in ("bw", "lat", "loopback_bw", "loopback_lat"):
            unit = next(u for u in units if tree.get(key).endswith(u))
            setattr(self, key, float(tree.get(key)[:-len(unit)]) * units[unit])
        for p in tree.findall("prop"):
            setattr(self, p.get("id"), p.get("value") if p.get("id") == "cluster" else float(p.get("value")))

    def kernel(self, rows):
        """Seconds for so many rows: every value within reach is read once, every value written once."""
        moved = [math.ceil(n * FLOAT / SECTOR) * SECTOR for n in (ROWS - 2, ROWS)]
        return self.launch + (moved[1] * (rows + 2) + moved[0] * rows) / self.bandwidth_2d

    def exchange(self, nodes):
        """Seconds from the end of a kernel until the next can begin: out, across, in."""
        row = (ROWS - 2) * FLOAT
        apart = abs(nodes[0] - nodes[1])
        links = 4 if apart >= 32 else 2  # across a leaf of the tree, or within it
        across = links * self.lat + row / self.bw if apart else self.loopback_lat + row / self.loopback_bw
        copy = self.copy + row / self.pcie
        orders = 3 * self.event + self.order  # of the host in the meantime: three events and the launch
        return copy + 2 * CALL + across + self.order + max(copy, orders)


def cases(c):
    half = ROWS // 2 - 1  # rows a process updates; one of them is border
    yield "alone", "none", [0], c.kernel(ROWS - 2)
    for place, nodes in (("in a node", [0, 0]), ("in two nodes", [0, 1]), ("across the tree", [0, 32])):
        yield f"two {place}", "none", nodes, c.kernel(half) + c.exchange(nodes)
        yield f"two {place}", "two-way", nodes, c.kernel(half - 1) + c.kernel(1) - c.launch


def all_agree(build, out):
    agree = True
    for cluster in map(Cluster, ("h200", "v100")):
        for what, overlap, nodes, expected in cases(cluster):
            got = simulate(build, cluster.cluster, "2d4", f"{ROWS}x{ROWS}", [f"--ambit-overlap={overlap}"],
                           nodes)["seconds"]
            good = abs(got - expected) < 1e-4 * expected
            agree = agree and good
            print(f"{cluster.cluster} {what}, {overlap}: {got * 1e6:.2f} microseconds, expected {expected * 1e6:.2f}"
                  f"{'' if good else ': they differ'}", file=out)
    return agree


if __name__ == "__main__":
    sys.exit(not all_agree(sys.argv[1], sys.stdout))
