"""How the pages of this directory become a site: ``make docs``.

The pages are plain Markdown, which is read in an editor and on a forge as it is. What only a site
needs is added here while they are read: the tables of contents, anchors, and the docstrings of the
reference.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import gallery  # beside this file

os.environ["ADCOMPILER_QUIET"] = "1"  # what compiling takes is of the machine

project = "adcompiler"
author = "the adcompiler authors"
version = release = version_of("adcompiler")
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
napoleon_numpy_docstring = False
napoleon_use_rtype = False
exclude_patterns = ["_build"]
sphinx_gallery_conf = {
    "examples_dirs": str(gallery.WORK / "scripts"),
    "gallery_dirs": "examples",
    "filename_pattern": gallery.run_pattern(),
    "reset_argv": "gallery.arguments",
    "image_scrapers": ("gallery.drawn",),
    "reset_modules": (),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "capture_repr": (),
    "default_thumb_file": str(gallery.THUMBNAIL),
    "download_all_examples": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
autodoc_typehints = "none"
toc_object_entries = False
python_display_short_literal_types = True
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = f"adcompiler {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"

CONTENTS = {
    "Start": ["tutorial", "features"],
    "Tasks": [
        "tasks/likelihood", "tasks/pde", "tasks/collocation", "tasks/layer", "tasks/shipping",
        "tasks/nan",
    ],
    "How to": [
        "structured-arguments", "modes", "derivatives", "recorder", "checkpointing", "external",
        "implicit", "rules", "interop", "native", "notebooks", "debugging",
    ],
    "Examples": ["examples/index"],
    "Reference": ["reference", "syntax", "cli", "limitations", "functions", "security", "glossary"],
    "Explanation": [
        "from-nothing", "writes", "sparsity", "kinks", "emitted-code", "same-bits", "performance",
        "testing", "real-code",
    ],
    "Coming from": [
        "migration/from-autograd", "migration/from-jax", "migration/from-pytorch",
        "migration/from-numdifftools", "migration/from-casadi",
    ],
    "The compiler": [
        "design", "adding/rule", "adding/syntax-form", "adding/pass", "adding/mode",
        "adding/backend",
    ],
}
"""The pages of each part of the site, in order."""

ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.M)
OUTSIDE = [re.compile(rf"\[([^\]]+)\]\((?:\.\./){{{up}}}[\w./-]+(?:#[\w-]+)?\)") for up in (1, 2)]
"""Links to files that are no pages, in pages of this directory and in those below."""
ENTRY = re.compile(r"^### `([\w.]+)`$", re.M)


def contents() -> str:
    """Return the hidden tables of contents of the front page; pages in none come last."""
    here = Path(__file__).parent
    known = {"index", *(page for pages in CONTENTS.values() for page in pages)}
    others = {path.relative_to(here).with_suffix("").as_posix() for path in here.rglob("*.md")}
    parts = {**CONTENTS, "More": sorted(others - known)}
    return "".join(
        f"\n:::{{toctree}}\n:hidden:\n:caption: {part}\n\n" + "\n".join(pages) + "\n:::\n"
        for part, pages in parts.items() if pages
    )


def documented(name: str) -> str:
    """Return the directive that shows the signature and the docstring of a public name."""
    import adcompiler

    value: Any = adcompiler
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    kind = "function" if not isinstance(value, type) else (
        "exception" if issubclass(value, BaseException) else "class")
    if not isinstance(value, type) and not callable(value):
        kind = "data"
    return f"```{{eval-rst}}\n.. auto{kind}:: {name}\n```\n"


def as_site(app: Any, page: str, source: list[str]) -> None:
    """Give a page what only the site needs."""
    text = ANCHOR.sub(r"(\1)=", source[0])
    text = OUTSIDE[page.count("/")].sub(r"\1", text)
    if page == "index":
        text += contents()
    if page == "reference":
        text = ENTRY.sub(lambda found: f"{found[0]}\n\n{documented(found[1])}", text)
    source[0] = text


def setup(app: Any) -> None:
    """Have pages changed as they are read, and examples made pages."""
    gallery.prepared()
    app.connect("source-read", as_site)
