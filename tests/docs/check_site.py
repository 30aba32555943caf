#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make docs builds without a warning; pages load nothing from a network; the search and the reference have every function.

    check_site.py WORK_FOLDER
"""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADED = re.compile(r"""<(?:script|img|link|iframe)[^>]*?(?:src|href)=["'](https?:)?//[^"']*["']""")
SKIP = 77


def has_sphinx(python):
    return not subprocess.run([python, "-c", "import sphinx, myst_parser"], capture_output=True).returncode


def main():
    site = pathlib.Path(sys.argv[1])
    if not any(map(has_sphinx, (sys.executable, "/usr/bin/python3"))):
        print("skipped: Sphinx and MyST are not installed (scripts/setup docs)")
        return SKIP
    subprocess.run([sys.executable, "-B", ROOT / "docs/site/build.py", site], check=True)
    bad = [f"{page.relative_to(site)} loads {m[0]}" for page in site.rglob("*.html")
           for m in LOADED.finditer(page.read_text()) if 'rel="canonical"' not in m[0]]
    functions = set(re.findall(r"^AMBIT_API\s[^;(]*?\b(ambit_\w+)\s*\(", "".join(h.read_text() for h in (ROOT / "include").glob("*.h")), re.M))
    reference, search = (site / "docs/reference.html").read_text(), (site / "searchindex.js").read_text()
    bad += [f"{name} is not in the reference" for name in functions if name not in reference]
    bad += [f"{name} is not found by the search" for name in functions if name not in search]
    for example in (ROOT / "examples").glob("*/README.md"):
        page = site / "examples" / example.parent.name / "README.html"
        if not page.exists():
            bad.append(f"the example {example.parent.name} has no page")
    index = (site / "index.html").read_text()
    menu = set(re.findall(r'class="toctree-l1"><a class="reference internal" href="docs/(\w[\w-]*)\.html"', index.split('class="toctree-wrapper compound">', 1)[1]))
    bad += [f"docs/{page.name} is not in the index" for page in (ROOT / "docs").glob("*.md") if page.stem not in menu]
    print("\n".join(bad) or f"{len(functions)} functions")
    return bool(bad)


sys.exit(main())
