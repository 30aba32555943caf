# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scaling program (main.c) on a cluster simulated by SimGrid."""
import json, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
GPUS = 4  # of a node
CALL = 5e-7  # seconds of an MPI call to send or to receive

# Links without the TCP model that SMPI uses by default, and collectives that simulate fast.
SETTINGS = {
    "smpi/simulate-computation": "no", "smpi/test": "0", "smpi/iprobe": "0", "smpi/wtime": "0",
    "smpi/ois": f"0:{CALL}:0", "smpi/or": f"0:{CALL}:0", "smpi/bw-factor": "0:1", "smpi/lat-factor": "0:1",
    "network/crosstraffic": "no", "smpi/shared-malloc": "global", "contexts/stack-size": "256",
    "smpi/coll-selector": "default", "smpi/bcast": "binomial_tree", "smpi/allgather": "bruck",
    "smpi/barrier": "ompi_recursivedoubling",
}


def simulate(build, cluster, stencil, size, options, nodes):
    """Runs one process per entry of `nodes`, in which a node may occur several times."""
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts:
        hosts.writelines(f"node{i}\n" for i in nodes)
        hosts.flush()
        words = ["smpirun", "-quiet", "-no-privatize", "-np", str(len(nodes)), "-platform", HERE / f"{cluster}.xml",
                 "-hostfile", hosts.name, *(f"--cfg={k}:{v}" for k, v in SETTINGS.items()),
                 "--log=root.thres:warning", "--log=xbt_cfg.thres:warning",
                 pathlib.Path(build, "bench", "scaling", "scaling.so"), stencil, size, *options]
        r = subprocess.run(words, capture_output=True, text=True)
    lines = [line for line in r.stdout.splitlines() if line.startswith("{")]
    if r.returncode or not lines:
        sys.exit(f"{' '.join(map(str, words))}: exit status {r.returncode}\n{r.stdout}{r.stderr}")
    return json.loads(lines[0])
