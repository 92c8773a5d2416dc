"""Sphinx configuration."""

import frugalsvm

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
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "frugalsvm"
html_theme_options = {"show_toc_level": 2}
html_sidebars = {"**": []}
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
