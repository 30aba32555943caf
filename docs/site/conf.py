# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx reads this from the folder that docs/site/build.py makes. Pages need no network, and the search works in files."""
import os

project = "Ambit"
copyright = "the Ambit authors"
version = release = os.environ.get("AMBIT_VERSION", "")
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
root_doc = "index"
exclude_patterns = ["**/site/**"]
html_theme = "alabaster"
html_theme_options = {"description": "iterative stencil computations in C", "page_width": "1100px", "sidebar_width": "240px",
                      "fixed_sidebar": True, "show_powered_by": False}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = False
highlight_language = "none"
suppress_warnings = ["myst.header", "myst.xref_missing", "myst.xref_ambiguous"]
