#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the pages as a site with Sphinx and MyST: the documents as they are, a reference made from ambit.h, and a page
per example.

    docs/site/build.py [OUTPUT]      the site (build/site); open OUTPUT/index.html
"""
import os, pathlib, re, shutil, subprocess, sys

import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = {  # the pages of the index, by kind: all of docs/ (tests/docs/check_site.py)
    "Start": ["README", "docs/tutorial", "docs/python", "examples/README", "docs/comparison"],
    "How to": ["docs/boundaries", "docs/programs", "docs/profiles", "docs/sweeps", "docs/points", "docs/own", "docs/sparse", "docs/output",
               "docs/view", "docs/checkpoints", "docs/parallel", "docs/streams", "docs/port", "docs/terrain", "docs/gpu-kernels",
               "docs/debugging", "docs/explain", "docs/performance"],
    "Reference": ["docs/reference", "docs/language", "docs/options", "docs/tool", "docs/catalogue", "docs/promises",
                  "docs/compatibility", "CHANGELOG"],
    "Behind it": ["docs/testing", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "docs/network", "docs/scaling", "docs/notes/README"],
}


def copy(source):
    """The documents and every file that they may link to, in their places."""
    for name in "README CHANGELOG CONTRIBUTING ARCHITECTURE SECURITY".split():
        shutil.copy(ROOT / f"{name}.md", source)
    for folder in "docs examples include bench packaging".split():
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("site", "*.jsonl", "*.csv", "results"))
    (source / "CITATION.cff").write_text((ROOT / "CITATION.cff").read_text())


def mend_links(source):
    """Links to folders lead to their README; those to files outside of the site become plain text; anchors of our own, HTML."""
    pages = list(source.rglob("*.md"))
    named = {page: set(re.findall(r'<a name="([^"]+)">', page.read_text())) for page in pages}

    def mended(page, found):
        text, link = found[1], found[2]
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link:
            return found[0]
        if anchor and anchor in named.get(target, ()):
            return f'<a href="{path[:-3] + ".html" if path else ""}#{anchor}">{text}</a>'
        if target.is_dir() and (target / "README.md").exists():
            return f"[{text}]({path.rstrip('/')}/README.md)"
        return found[0] if target.is_file() else text

    for page in pages:
        text = page.read_text()
        page.write_text(re.sub(r"(?<!!)\[([^][]*)\]\(([^)\s]+)\)", lambda m: mended(page, m), text))


def example_pages(source):
    """A page per example: its README, with its picture, and its program."""
    readmes = sorted((ROOT / "examples").glob("*/README.md"))
    for readme in readmes:
        page = [readme.read_text(), *(f"\n## {f.name}\n\n```c\n{f.read_text()}```\n" for f in sorted(readme.parent.glob("*.c")))]
        (source / readme.relative_to(ROOT)).write_text("".join(page))
    return len(readmes)


def index(source):
    lines = ["# Ambit\n", "Iterative stencil computations in C: write the rule for one cell, run it on processors, GPUs and clusters.\n",
             "![Hot petals around a glowing centre, cooling](docs/heat.png)\n"]
    for part, pages in PARTS.items():
        lines += [f"```{{toctree}}\n:caption: {part}\n:maxdepth: 1\n", *pages, "```\n"]
    lines += ["```{toctree}\n:hidden:\n:glob:\n", "examples/*/README", "docs/*", "docs/design/*", "docs/notes/*", "bench/**/*", "packaging/README", "```\n"]
    (source / "index.md").write_text("\n".join(lines))


def main():
    output = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/site").resolve()
    source = output.parent / (output.name + "-source")
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(output, ignore_errors=True)
    source.mkdir(parents=True)
    copy(source)
    functions = reference.write(ROOT / "include/ambit.h", source / "docs/reference.md")
    examples = example_pages(source)
    mend_links(source)
    index(source)
    env = {**os.environ, "AMBIT_VERSION": reference.version(ROOT / "include/ambit.h")}
    python = sys.executable
    if subprocess.run([python, "-c", "import sphinx, myst_parser"], capture_output=True).returncode:
        python = "/usr/bin/python3"  # of the system, which has Debian's packages
    source, output = source.resolve(), output.resolve()
    done = subprocess.run([python, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", ROOT / "docs/site", source, output], env=env)
    if done.returncode:
        return done.returncode
    print(f"{output}/index.html: {len(list(output.rglob('*.html')))} pages, {functions} functions, {examples} examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
