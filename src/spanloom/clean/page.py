"""Page of suspects: each with its text, as annotated above it and as held-out models would have it below it.

The page has no script: its style hides what is filtered out and changes the order, in browsers that support `:has`.
Elsewhere it reads in full, the most certain suspect first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spanloom.clean.suspects import KINDS, Suspect
from spanloom.document import Document
from spanloom.view import excerpts
from spanloom.view.excerpts import both_sides, chooser, order_places, plain
from spanloom.view.layout import blocks
from spanloom.view.page import legend
from spanloom.view.placement import tracks, type_names
from spanloom.view.style import page
from spanloom.view.svg import clean

MOST = 2000  # suspects that are shown
_MEANINGS = {
    "wrong": "annotated, but probably no mention",
    "missing": "not annotated, but probably a mention",
    "boundary": "probably a mention of the same type, with other spans",
    "type": "probably a mention of another type",
}
_ORDERS = {"": "most certain", "text": "text", "type": "type"}


def suspects_page(documents: Sequence[Document], suspects: Sequence[Suspect], *, title: str = "Suspects") -> str:
    """Return suspects as one HTML page, in their order; the first 2,000, with a line on their number.

    Args:
        documents: that the suspects' numbers mean; scores of their mentions are shown.
        suspects: as `find_suspects` gives them.
        title: of the page.

    Returns:
        HTML, the same for the same arguments. The page has no script and loads nothing.

    >>> from spanloom.document import Mention
    >>> note = Document("no chest pain", mentions=[Mention("problem", [(9, 13)])])
    >>> whole = Mention("problem", [(3, 13)], score=0.9)
    >>> html = suspects_page([note], [Suspect(0, "boundary", 0.9, note.mentions[0], whole)])
    >>> html.count('<article class="e boundary y0"')
    1
    """
    shown = suspects[:MOST]
    others = [Document("", mentions=[suspect.other]) for suspect in shown if suspect.other is not None]
    named = sorted({suspect.document for suspect in shown})
    drawn = [*(documents[number] for number in named), *others]
    names = type_names(drawn)
    annotated = {number: tracks(documents[number], names) for number in named}
    cuts = {number: blocks(documents[number]) for number in named}
    numbers = range(len(shown))
    first = [min(mention.type for mention in suspect.mentions) for suspect in shown]
    in_text = sorted(numbers, key=lambda n: (shown[n].document, shown[n].start))
    places = order_places({"text": in_text, "type": sorted(numbers, key=lambda n: (first[n], n))})
    counts = Counter[str](suspect.kind for suspect in suspects)
    rows = "".join(
        f'<tr><th>{kind}</th><td>{counts[kind]:,}</td><td class="faint">{_MEANINGS[kind]}</td></tr>\n' for kind in KINDS
    )
    parts = [f"<header>\n<h1>{plain(title)}</h1>\n<table>\n{rows}</table>\n</header>\n<main>\n", legend(drawn, names)]
    if len(suspects) > MOST:
        parts.append(f'<p class="faint">The {MOST:,} most certain of {len(suspects):,} are shown.</p>\n')
    form, rules = chooser({kind: f"{kind} ({counts[kind]:,})" for kind in KINDS if counts[kind]}, names, _ORDERS)
    parts += [form, '<div class="excerpts">\n']
    for suspect, place in zip(shown, places, strict=True):
        document = documents[suspect.document]
        other = [] if suspect.other is None else tracks(document.copy(mentions=[suspect.other]), names)
        classes = ["e", suspect.kind, *sorted({f"y{names.index(mention.type)}" for mention in suspect.mentions})]
        sides = {"annotated": annotated[suspect.document], "expected": other}
        body = both_sides(document.text, suspect.mentions, cuts[suspect.document], sides)
        parts.append(
            f'<article class="{" ".join(classes)}" style="{place}"><h2>{suspect.kind} <span class="faint">'
            f"<bdi>{plain(suspect.name_in(documents))}</bdi>, {suspect.certainty:.1%}</span></h2>\n{body}</article>\n"
        )
    parts.append("</div>\n</main>\n" if shown else "</div>\n<p>None.</p>\n</main>\n")
    return page(clean(title), "".join(parts), types=names, style=excerpts.STYLE + rules)
