"""Sphinx configuration."""

import sys
from pathlib import Path

import frugalsvm

sys.path.insert(0, str(Path(__file__).parent))
import landing

project = "frugalsvm"
author = "The frugalsvm developers"
copyright = "2026, the frugalsvm developers"
version = release = frugalsvm.__version__

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_generated"]
nitpicky = True
# Classes of other packages.
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|numpy|pandas|matplotlib)\..*")]
html_theme = "pydata_sphinx_theme"
html_title = "frugalsvm"
html_theme_options = {
    "show_toc_level": 2,
    "show_prev_next": False,
    "header_links_before_dropdown": 7,
}
# Pages with wide listings have no sidebar.
html_sidebars = {
    "index": [],
    "start/command_line": [],
    "start/python": [],
    "reference/api": [],
    "**": ["sidebar-nav-bs"],
}
html_static_path = ["_static"]
html_css_files = ["frugal.css"]
# The example of a report.
html_extra_path = ["_generated/extra"]
(landing.FOLDER / "extra").mkdir(parents=True, exist_ok=True)
html_show_sourcelink = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}


def setup(app):
    """Make the output of real runs before the pages that include it are read."""
    app.connect("builder-inited", landing.make)
