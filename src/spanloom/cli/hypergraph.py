"""`spanloom view --hypergraph`: the best sub-hypergraphs of a model, as a page or as a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import UsageError
from spanloom.hypergraph import Child, Edges, Hyperedge, Template
from spanloom.model.protocol import Drawable, draws_hypergraph
from spanloom.models import load
from spanloom.structures.chain import Chain
from spanloom.view.excerpts import plain
from spanloom.view.hypergraph import draw_hypergraph
from spanloom.view.style import page
from spanloom.view.svg import clean

MOST = 200  # tokens of a sentence that is drawn: a drawing has a column for each
_STYLE = """\
figure { margin: .8rem 0 1.6rem; overflow-x: auto; }
figcaption { font-size: .85rem; }
@media print { figure { break-inside: avoid; } }
"""


def draw(path: str, documents: Sequence[Document], output: str, title: str) -> str:
    """Return the text of the file to write: one drawing, or a page of all.

    Args:
        path: of the model.
        documents: to annotate.
        output: the file; its suffix selects one drawing or a page.
        title: of the page.

    Raises:
        UsageError: the model cannot be drawn, or there is not exactly one drawing for an ``.svg``.
    """
    model = load(path)
    if not draws_hypergraph(model):
        raise UsageError(f"{path} is a {type(model).__name__}, expected a recognizer, which --hypergraph draws")
    drawn = [list(_drawings(model, document)) for document in documents]
    every = [drawing for own in drawn for _, drawing in own]
    if Path(output).suffix.lower() != ".svg":
        parts = [f"<main>\n<h1>{plain(title)}</h1>\n", "<p>No mention is found.</p>\n" * (not every)]
        for number, (document, own) in enumerate(zip(documents, drawn, strict=True), 1):
            parts.append(f"<h2><bdi>{plain(document.id or f'Document {number}')}</bdi></h2>\n" * bool(own))
            parts += [f"<figure><figcaption>{caption}</figcaption>\n{svg}</figure>\n" for caption, svg in own]
        return page(clean(title), "".join([*parts, "</main>\n"]), types=(), style=_STYLE)
    if len(every) != 1 or not every[0].startswith("<svg"):
        raise UsageError(
            f"an .svg holds one drawing, and these documents have {len(every)}: one for each sentence and type of "
            "mention that is found; write an .html, or give a text of one sentence"
        )
    return every[0]


def _drawings(model: Drawable, document: Document) -> Iterator[tuple[str, str]]:
    """Yield the caption of each drawing as HTML, and the drawing, or in HTML a message that there cannot be one."""
    tagger = model.fitted
    structure, types = tagger.structure, tagger.types
    batch = Batch.of(model.ready([document]))
    potentials, offsets, words = tagger.scorer.score(batch), batch.sentences, batch.words
    edges = tagger.best(potentials, offsets)
    found = structure.decode(edges, offsets, types)
    for n, (first, end) in enumerate(pairwise(offsets.tolist())):
        kinds = sorted(set(found.kind[found.sentence == n].tolist()))
        for lane in [0] if structure.joint and kinds else kinds:
            name = "" if structure.joint else types[lane]
            caption = f"Sentence {n + 1}" + (f", {plain(name)}" if name else "")
            if end - first > MOST:
                yield caption, f'<p class="faint">{end - first} tokens, too many to draw.</p>\n'
                continue
            template, own = structure.template(types), edges[first:end, lane]
            if isinstance(structure, Chain):
                # as in textbooks, with one node for each tag instead of the engine's two
                names, tags = structure.tags(types), structure.read_tags(edges[first:end], types).tolist()
                pairs = list(pairwise([*tags, tags[-1]]))
                distinct = sorted(set(pairs))
                arcs = (Hyperedge(f"{names[a]}, {names[b]}", names[a], (Child(names[b], 1),)) for a, b in distinct)
                template = Template(tuple(names), names[tags[0]], frozenset(names), tuple(arcs))
                own = np.array([[distinct.index(pair)] for pair in pairs], np.int16)
            title = f"{structure.name}: {name or 'all types'}"
            yield caption, draw_structure(template, words[first:end], own, title)


def draw_structure(template: Template, words: Sequence[str], edges: Edges, title: str) -> str:
    """Draw a structure of one sentence, without the nodes whose only meaning is that nothing starts.

    Args:
        template: of the structure.
        words: T.
        edges: (T, D) hyperedges.
        title: what it shows.
    """
    picked = {template.edges[e] for e in edges.ravel().tolist() if e >= 0}
    meaningful = {edge.head for edge in picked if edge.children or edge.roles}
    [root] = [edge for edge in template.edges if edge.head == template.root][:1]
    idle = {edge.head for edge in picked} - meaningful
    if sum(child.step == 0 for child in root.children) > 1:  # its lines to each strand would hide all others
        idle.add(template.root)
    # where a template has a leaf, it also draws what ends beside going on as a line to it
    leaf = any(not edge.children for edge in template.edges)
    ends = {role for role in template.roles if role.startswith("E")} if leaf else set()
    return draw_hypergraph(template, words, edges, leaf_roles=ends, leave_out=idle, labels=not leaf, title=title)
