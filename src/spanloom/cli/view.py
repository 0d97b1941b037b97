"""`spanloom view`: documents and their mentions in the terminal, as a page or as a drawing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name

from spanloom.cli.app import View
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.files import STDIO
from spanloom.files.output import check_free, output_file
from spanloom.formats import read
from spanloom.view import render, to_html, to_svg

# how a file is drawn, by the end of its name
_DRAWINGS = {".html": to_html, ".htm": to_html, ".svg": to_svg}


def run(args: View) -> None:
    """Show each document as soon as it is read; or write all of them, or a model's sub-hypergraphs, to one file."""
    if args.output is not None:
        _write(args, args.output)
        return
    if args.hypergraph is not None:
        raise UsageError("--hypergraph draws; give it an --output that ends in .html or .svg")
    show(islice(read(args.data, format=args.input_format), args.limit))


def show(documents: Iterable[Document]) -> None:
    """Draw documents on standard output, each as soon as it is there."""
    width, color = terminal()
    for i, document in enumerate(documents):
        if i:
            print()
        print(render(document, width=width, color=color), end="", flush=True)


def _write(args: View, output: str) -> None:
    draw = _DRAWINGS.get(Path(output).suffix.lower())
    if draw is None:
        raise UsageError(f"found the output {output}, expected a name that ends in .html or .svg")
    check_free(output, force=args.force)
    documents = list(islice(read(args.data, format=args.input_format), args.limit))
    place = "" if args.data == STDIO else f" of {Path(args.data).name}"
    if args.hypergraph is None:
        drawing = draw(documents, title=f"Mentions{place}")
    else:  # only these need kernels
        draw_all = resolve_name("spanloom.cli.hypergraph:draw")
        drawing = draw_all(args.hypergraph, documents, output, f"Sub-hypergraphs{place}")
    with output_file(output, force=args.force) as file:
        # half of a surrogate pair, which a text may hold, has no UTF-8 form; drawings show it as a picture already
        file.write(drawing)


def terminal() -> tuple[int, bool]:
    """Return the width of standard output, and whether it takes colours (https://no-color.org)."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return max(shutil.get_terminal_size().columns, 20), color
