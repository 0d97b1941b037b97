"""Builds the documentation as a site: ``sphinx-build -W -n -b html -c docs . build/site``.

The repository is the source, so that the links between ``docs``, ``benchmarks/results`` and the files beside them are
the same here and where the files are read as they are.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from spanloom import __version__
from spanloom.view.style import DARK, EDGE, FAINT, INK, LIGHT, PAPER

sys.path.insert(0, str(Path(__file__).parent))  # for `sessions`

# What the side bar lists, in the four parts of documentation: captions, and pages in their order. Sphinx complains of a
# page that is not in it.
CONTENTS = {
    "Tutorials": [
        "docs/tutorials/recognize",
        "docs/tutorials/own-brat-files",
        "docs/tutorials/link",
        "docs/tutorials/segment",
        "docs/tutorials/texts-and-tables",
        "docs/gallery",
    ],
    "How to": [
        "docs/which-model",
        "docs/tasks",
        "docs/models-ready",
        "docs/how-to/own-data",
        "docs/how-to/tuning",
        "docs/how-to/features",
        "docs/how-to/encoders",
        "docs/how-to/label",
        "docs/negation",
        "docs/constraints",
        "docs/guarantees",
        "docs/how-to/partial",
        "docs/how-to/annotators",
        "docs/how-to/teaching",
        "docs/how-to/compact",
        "docs/how-to/clean",
        "docs/how-to/calibration",
        "docs/how-to/big-corpora",
        "docs/how-to/lake",
        "docs/how-to/containers",
        "docs/how-to/from-spacy",
        "docs/how-to/migrate",
        "docs/how-to/from-brat",
        "docs/how-to/from-llm",
        "docs/viewing",
        "docs/explaining",
        "docs/annotate",
        "docs/serving",
        "docs/integrations",
    ],
    "Reference": [
        "docs/command-line",
        "docs/api",
        "docs/capabilities",
        "docs/models/index",
        "docs/models/separators",
        "docs/models/separator_states",
        "docs/models/mention_hypergraph",
        "docs/models/heads",
        "docs/models/shared",
        "docs/models/split",
        "docs/models/seven_tag",
        "docs/models/two_layer",
        "docs/models/bio-bilou",
        "docs/models/semi_markov",
        "docs/models/cascaded",
        "docs/models/own",
        "docs/concepts",
        "docs/linking",
        "docs/segmentation",
        "docs/tagger",
        "docs/language-model",
        "docs/formats",
        "docs/features",
        "docs/vocabularies",
        "docs/candidates",
        "docs/attributes",
        "docs/evaluation",
        "docs/compare",
        "docs/model-files",
        "docs/conventions",
        "docs/errors",
        "docs/glossary",
    ],
    "Explanation": [
        "docs/method",
        "docs/models/counting",
        "docs/models/examples",
        "docs/ambiguity",
        "docs/second-stage",
        "docs/two-passes",
        "docs/privacy",
        "docs/architecture",
        "docs/extending/structure",
        "docs/extending/stage",
        "docs/extending/format",
        "docs/extending/feature",
        "docs/results",
        "docs/papers",
        "benchmarks/README",
        "docs/chinese_corpus",
        "docs/decisions",
        "CONTRIBUTING",
        "SECURITY",
        "CHANGELOG",
    ],
}
ROOT = Path(__file__).resolve().parents[1]
RECORDS = sorted(f"benchmarks/results/{page.stem}" for page in (ROOT / "benchmarks" / "results").glob("*.md"))
# what a browser would fetch by itself: links that somebody follows are not meant
REMOTE = re.compile(
    r"""<(?!a\b)\w[^>]*\b(?:src|href)=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|(?:url\(|@import)\s*["']?(?:https?:)?//[^)]+"""
)


def colors(scheme: str, kinds: tuple[str, ...]) -> dict[str, str]:
    """The theme's variables for the colours and the font of the pages that Spanloom makes."""
    return {
        "color-background-primary": PAPER[scheme],
        "color-background-border": EDGE[scheme],
        "color-foreground-primary": INK[scheme],
        "color-foreground-secondary": FAINT[scheme],
        "color-brand-primary": kinds[0],
        "color-brand-content": kinds[0],
        "font-stack": "system-ui, sans-serif",
    }


project = "Spanloom"
version = release = __version__
root_doc = "docs/index"
include_patterns = [
    *("docs/**.md", "benchmarks/README.md", "benchmarks/results/*.md"),
    *("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
]
exclude_patterns = [".*", "build", "dist", "src", "tests"]  # not walked through
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sessions"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Spanloom {__version__}"
html_theme_options = {
    "light_css_variables": colors("light", LIGHT),
    "dark_css_variables": colors("dark", DARK),
}
html_logo = html_favicon = "_static/mark.svg"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["spanloom.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("copy.js", "scroll.js")]
html_extra_path = ["site"]  # a page at the top that leads to the first one
html_copy_source = False
html_show_copyright = False
default_role = "code"  # of docstrings, which write names between single backticks
# types of Python, of NumPy and of the package's inside have no page here; the public names have, and are checked
nitpick_ignore_regex = [("py:.*", r"(?!spanloom\.[A-Za-z]+$).*")]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_numpy_docstring = False


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Appends the side bar to the first page, and the list of records to that of the benchmarks."""
    lists = CONTENTS if page == root_doc else {"Records": RECORDS} if page == "benchmarks/README" else {}
    for caption, pages in lists.items():
        there = "\n".join(f"/{name}" for name in pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{there}\n```\n"


def refuse_remote(app: Sphinx, exception: Exception | None) -> None:
    """Fails where a page or a style would fetch something from elsewhere."""
    files = [file for file in Path(app.outdir).rglob("*") if file.suffix in {".html", ".css"}]
    found = [f"{file.name}: {hit}" for file in files for hit in REMOTE.findall(file.read_text(encoding="utf-8"))]
    if found and exception is None:
        raise SphinxError(f"the site fetches from elsewhere: {'; '.join(found[:5])}")


def setup(app: Sphinx) -> None:
    """Connects the two."""
    app.connect("source-read", add_contents)
    app.connect("build-finished", refuse_remote)
