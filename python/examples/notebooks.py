#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the notebooks of ../notebooks from the scripts beside this file; --check compares. Cells begin with `# %%`."""
import json, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "notebooks"


def cell(kind, text, number):
    lines = text.strip("\n").splitlines(True)
    if kind == "markdown":
        lines = [re.sub(r"^# ?", "", line) for line in lines]
    made = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines}
    return {**made, "execution_count": None, "outputs": []} if kind == "code" else made


def notebook(script):
    parts = re.split(r"(?m)^# %%(.*)\n", script.read_text())[1:]
    cells = [cell("markdown" if "[markdown]" in head else "code", text, i)
             for i, (head, text) in enumerate(zip(parts[::2], parts[1::2]))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4,
                       "nbformat_minor": 5}, indent=1) + "\n"


def main():
    for script in sorted(HERE.glob("*.py")):
        if script.name == "notebooks.py":
            continue
        path = FOLDER / (script.stem + ".ipynb")
        if "--check" not in sys.argv:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(notebook(script))
        elif not path.is_file() or path.read_text() != notebook(script):
            sys.exit(f"{path} is not what {script.name} says; run python3 python/examples/notebooks.py")


main()
