"""`spanloom view`: documents and their mentions in the terminal, as a page or as a drawing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import UsageError
from spanloom.files import STDIO
from spanloom.files.output import check_free, output_file
from spanloom.formats import read
from spanloom.hypergraph import Child, Edges, Hyperedge, Template
from spanloom.model.protocol import Drawable, draws_hypergraph
from spanloom.models import load
from spanloom.structures.chain import Chain
from spanloom.view import render, to_html, to_svg
from spanloom.view.cells import shorten
from spanloom.view.hypergraph import draw_hypergraph
from spanloom.view.style import page
from spanloom.view.svg import clean

MOST = 200  # tokens of a sentence that is drawn: a drawing has a column for each
_STYLE = """\
figure { margin: .8rem 0 1.6rem; overflow-x: auto; }
figcaption { font-size: .85rem; }
@media print { figure { break-inside: avoid; } }
"""
# how a file is drawn, by the end of its name
_DRAWINGS = {".html": to_html, ".htm": to_html, ".svg": to_svg}


def run(
    data: str, output: str | None, hypergraph: str | None, limit: int | None, input_format: str | None, force: bool
) -> None:
    """Show each document as soon as it is read; or write all of them, or a model's sub-hypergraphs, to one file."""
    if output is not None:
        _write(data, output, hypergraph, limit, input_format, force)
        return
    if hypergraph is not None:
        raise UsageError("--hypergraph draws; give it an --output that ends in .html or .svg")
    width, color = terminal()
    for i, document in enumerate(islice(read(data, format=input_format), limit)):
        if i:
            print()
        print(render(document, width=width, color=color), end="")


def _write(
    data: str, output: str, hypergraph: str | None, limit: int | None, input_format: str | None, force: bool
) -> None:
    draw = _DRAWINGS.get(Path(output).suffix.lower())
    if draw is None:
        raise UsageError(f"found the output {output}, expected a name that ends in .html or .svg")
    check_free(output, force=force)
    model = None if hypergraph is None else _load_drawable(hypergraph)
    documents = list(islice(read(data, format=input_format), limit))
    place = "" if data == STDIO else f" of {Path(data).name}"
    if model is None:
        drawing = draw(documents, title=f"Mentions{place}")
    else:
        drawing = _draw_hypergraphs(model, documents, output, f"Sub-hypergraphs{place}")
    with output_file(output, force=force) as file:
        # half of a surrogate pair, which a text may hold, has no UTF-8 form; drawings show it as a picture already
        file.write(drawing)


def terminal() -> tuple[int, bool]:
    """Return the width of standard output, and whether it takes colours (https://no-color.org)."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return max(shutil.get_terminal_size().columns, 20), color


class _Drawn(NamedTuple):
    """A drawing.

    Args:
        document: its number.
        sentence: its number, from 1.
        type: of the mentions; empty where all share one lattice.
        svg: the drawing; or, in HTML, why there is none.
    """

    document: int
    sentence: int
    type: str
    svg: str


def _load_drawable(path: str) -> Drawable:
    """A model whose sub-hypergraphs can be drawn.

    Raises:
        UsageError: another kind of model.
    """
    model = load(path)
    if not draws_hypergraph(model):
        raise UsageError(f"{path} is a {type(model).__name__}, expected a recognizer, which --hypergraph draws")
    return model


def _draw_hypergraphs(model: Drawable, documents: Sequence[Document], output: str, title: str) -> str:
    """Return the text of the file to write: one drawing, or a page of all.

    Raises:
        UsageError: several drawings, or none, for an ``.svg``.
    """
    drawn = [one for number, document in enumerate(documents) for one in _drawings(model, number, document)]
    if Path(output).suffix.lower() != ".svg":
        return _page(documents, drawn, title)
    if len(drawn) != 1 or not drawn[0].svg.startswith("<svg"):
        raise UsageError(
            f"an .svg holds one drawing, and these documents have {len(drawn)}: one for each sentence and type of "
            "mention that is found; write an .html, or give a text of one sentence"
        )
    return drawn[0].svg


def _drawings(model: Drawable, number: int, document: Document) -> Iterator[_Drawn]:
    tagger = model.fitted
    structure, types = tagger.structure, tagger.types
    batch = Batch.of(model.ready([document]))
    potentials, offsets, words = tagger.score(batch), batch.sentences, batch.words
    edges = tagger.best(potentials, offsets)
    found = structure.decode(edges, offsets, types)
    for n, (first, end) in enumerate(pairwise(offsets.tolist())):
        kinds = sorted(set(found.kind[found.sentence == n].tolist()))
        for lane in [0] if structure.joint and kinds else kinds:
            name = "" if structure.joint else types[lane]
            if end - first > MOST:
                yield _Drawn(number, n + 1, name, f'<p class="faint">{end - first} tokens, too many to draw.</p>\n')
                continue
            template, own = structure.template(types), edges[first:end, lane]
            if isinstance(structure, Chain):
                template, own = _tags(structure, types, edges[first:end])
            svg = draw_structure(template, words[first:end], own, f"{structure.name}: {name or 'all types'}")
            yield _Drawn(number, n + 1, name, svg)


def draw_structure(template: Template, words: Sequence[str], edges: Edges, title: str) -> str:
    """Draw a structure of one sentence, without the nodes that only say that nothing starts.

    Args:
        template: of the structure.
        words: T.
        edges: (T, D) hyperedges.
        title: what it shows.
    """
    picked = {template.edges[e] for e in edges.ravel().tolist() if e >= 0}
    says = {edge.head for edge in picked if edge.children or edge.roles}
    [root] = [edge for edge in template.edges if edge.head == template.root][:1]
    idle = {edge.head for edge in picked} - says
    if sum(child.step == 0 for child in root.children) > 1:  # its lines to each strand would hide all others
        idle.add(template.root)
    # where a template has a leaf, it also draws what ends beside going on as a line to it
    leaf = any(not edge.children for edge in template.edges)
    ends = {role for role in template.roles if role.startswith("E")} if leaf else set()
    return draw_hypergraph(template, words, edges, leaf_roles=ends, leave_out=idle, labels=not leaf, title=title)


def _tags(chain: Chain, types: Sequence[str], edges: Edges) -> tuple[Template, Edges]:
    """A chain as books draw it: a node for each tag. The engine has two, which say no more."""
    names, tags = chain.tags(types), chain.read_tags(edges, types).tolist()
    pairs = list(pairwise([*tags, tags[-1]]))
    distinct = sorted(set(pairs))
    lines = (Hyperedge(f"{names[a]}, {names[b]}", names[a], (Child(names[b], 1),)) for a, b in distinct)
    template = Template(tuple(names), names[tags[0]], frozenset(names), tuple(lines))
    return template, np.array([[distinct.index(pair)] for pair in pairs], np.int16)


def _page(documents: Sequence[Document], drawn: Sequence[_Drawn], title: str) -> str:
    parts = [f"<h1>{_plain(title)}</h1>\n"]
    if not drawn:
        parts.append("<p>No mention is found.</p>\n")
    for number, document in enumerate(documents):
        own = [one for one in drawn if one.document == number]
        if own:
            parts.append(f"<h2><bdi>{_plain(document.id or f'Document {number + 1}')}</bdi></h2>\n")
        for one in own:
            caption = f"Sentence {one.sentence}" + (f", {_plain(one.type)}" if one.type else "")
            parts.append(f"<figure><figcaption>{caption}</figcaption>\n{one.svg}</figure>\n")
    return page(clean(title), "".join(parts), kinds=0, style=_STYLE)


def _plain(text: str) -> str:
    return escape(shorten(clean(text), 200))
