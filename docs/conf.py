"""The documentation site: `sphinx-build -W --keep-going docs docs/_build/html`."""

import re
import warnings
from typing import Any

import matplotlib
from sklearn.exceptions import ConvergenceWarning
from sphinx.application import Sphinx

import spdpeg

matplotlib.use("Agg")
warnings.simplefilter("error", ConvergenceWarning)  # a tutorial must reach its tolerance

project = "spdpeg"
author = "The spdpeg developers"
project_copyright = author
version = release = spdpeg.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
html_theme = "furo"
html_title = f"spdpeg {release}"
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Inherited from scikit-learn, and documented there.
autodoc_default_options = {
    "exclude-members": "score, get_metadata_routing, set_fit_request, set_partial_fit_request, set_predict_request, "
    "set_score_request"
}
numpydoc_show_class_members = False
autosummary_generate = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/models",
    "gallery_dirs": "models",
    "filename_pattern": r"\.py$",
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

FORMULA = re.compile(r"^(\S.*\n\n)((?: {4}.*\n|\n)+)", re.MULTILINE)


def as_markup(app: Sphinx, kind: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: show indented formulas as they are written, and bars as bars."""
    text = "\n".join(lines).replace("|", r"\|")
    text = FORMULA.sub(lambda found: f"{found[1]}.. code-block:: text\n\n" + found[2].replace(r"\|", "|"), text)
    lines[:] = text.split("\n")


def to_tutorials(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to the script of a tutorial, which work in the repository, lead to its page here."""
    source[0] = re.sub(r"\(\.\./examples/models/(\w+)\.py\)", r"(models/\1.rst)", source[0])


def setup(app: Sphinx) -> None:
    """Meet pages and docstrings first, before numpydoc does."""
    app.connect("source-read", to_tutorials)
    app.connect("autodoc-process-docstring", as_markup, priority=100)
