# SPDX-License-Identifier: BSD-3-Clause
"""The examples run and check themselves, as scripts and as notebooks; the package has types."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted(p for p in (ROOT / "python/examples").glob("*.py") if p.name != "notebooks.py")
# Kernels are optimised, unlike those of other tests (CC): the scripts compute much.
ENV = {**{k: v for k, v in os.environ.items() if k != "CC"}, "PYTHONPATH": str(ROOT / "python"), "AMBIT_DEVICES": "cpu"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_a_script_runs(script, tmp_path):
    run = subprocess.run([sys.executable, script], env=ENV, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_the_notebooks_are_made_from_the_scripts():
    subprocess.run([sys.executable, ROOT / "python/examples/notebooks.py", "--check"], check=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_a_notebook_runs_and_shows_a_picture(script, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="there is no nbclient; scripts/setup check-all installs it")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel", reason="there is no ipykernel; scripts/setup check-all installs it")
    for name in ("PYTHONPATH", "AMBIT_DEVICES"):
        monkeypatch.setenv(name, ENV[name])
    book = nbformat.read(ROOT / "python/notebooks" / (script.stem + ".ipynb"), as_version=4)
    nbclient.NotebookClient(book, timeout=300).execute()
    shown = [o for c in book.cells if c.cell_type == "code" for o in c.outputs]
    assert any("image/png" in o.get("data", {}) for o in shown)


def test_the_package_has_types():
    pytest.importorskip("mypy", reason="there is no mypy; scripts/setup check-all installs it")
    command = ["-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / "build/mypy", ROOT / "python/ambit"]
    run = subprocess.run([sys.executable, *command], capture_output=True, text=True)  # not here: it slows the others down
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_programs_of_the_guide_run(tmp_path):
    """Each block of docs/python.md, one after the other in one namespace; those that begin with a comment "# not run" are
    for other machines."""
    text = (ROOT / "docs/python.md").read_text()
    blocks = [b for b in re.findall(r"(?s)```python\n(.*?)```", text) if not b.startswith("# not run")]
    assert len(blocks) >= 5
    script = tmp_path / "guide.py"
    script.write_text("\n".join(blocks))
    run = subprocess.run([sys.executable, script], env=ENV, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
