"""Page of suspects: each with its text, as annotated above it and as held-out models would have it below it.

Without its script the page reads in full, the most certain suspect first. The script, which is part of the page, hides
what is filtered out and changes the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from json import dumps

from spanloom.clean.suspects import KINDS, Suspect
from spanloom.document import Document
from spanloom.view import excerpts
from spanloom.view.excerpts import both_sides, plain, select, type_values
from spanloom.view.layout import blocks
from spanloom.view.page import legend
from spanloom.view.style import page
from spanloom.view.svg import clean
from spanloom.view.tracks import Track, tracks, type_names

MOST = 2000  # suspects that are shown
_MEANINGS = {
    "wrong": "annotated, but probably no mention",
    "missing": "not annotated, but probably a mention",
    "boundary": "probably a mention of the same type, with other spans",
    "type": "probably a mention of another type",
}
_SCRIPT = """
const list = document.getElementById("suspects"), form = document.getElementById("choose");
const items = [...list.querySelectorAll("article")], count = document.getElementById("shown");
const orders = {
  certainty: (a, b) => a.dataset.n - b.dataset.n,
  text: (a, b) => a.dataset.place - b.dataset.place,
  type: (a, b) => a.dataset.type.localeCompare(b.dataset.type) || a.dataset.n - b.dataset.n,
};
function show() {
  const { kind, type, order } = form.elements;
  let shown = 0;
  for (const item of items) {
    const types = JSON.parse(item.dataset.types);
    item.hidden = (kind.value && item.dataset.kind !== kind.value) || (type.value && !types.includes(type.value));
    shown += !item.hidden;
  }
  list.append(...[...items].sort(orders[order.value]));
  count.textContent = shown + " shown";
}
form.hidden = false;
form.addEventListener("change", show);
show();
"""


def suspects_page(documents: Sequence[Document], suspects: Sequence[Suspect], *, title: str = "Suspects") -> str:
    """Return suspects as one HTML page, in their order; the first 2,000, with a line on their number.

    Args:
        documents: that the suspects' numbers mean; scores of their mentions are shown.
        suspects: as `find_suspects` gives them.
        title: of the page.

    Returns:
        HTML, the same for the same arguments. The page has one script and loads nothing.

    >>> from spanloom.document import Mention
    >>> note = Document("no chest pain", mentions=[Mention("problem", [(9, 13)])])
    >>> whole = Mention("problem", [(3, 13)], score=0.9)
    >>> html = suspects_page([note], [Suspect(0, "boundary", 0.9, note.mentions[0], whole)])
    >>> html.count('<article class="e" data-kind="boundary"')
    1
    """
    shown = suspects[:MOST]
    others = [Document("", mentions=[suspect.other]) for suspect in shown if suspect.other is not None]
    named = sorted({suspect.document for suspect in shown})
    drawn = [*(documents[number] for number in named), *others]
    names = type_names(drawn)
    annotated = {number: tracks(documents[number], names) for number in named}
    cuts = {number: blocks(documents[number]) for number in named}
    counts = Counter[str](suspect.kind for suspect in suspects)
    parts = [f"<header>\n<h1>{plain(title)}</h1>\n{_counts(counts)}</header>\n", legend(drawn, names)]
    if len(suspects) > MOST:
        parts.append(f'<p class="faint">The {MOST:,} most certain of {len(suspects):,} are shown.</p>\n')
    parts += [_choices(counts, names), '<div id="suspects">\n', *_articles(documents, shown, annotated, cuts, names)]
    parts.append("</div>\n" if shown else "</div>\n<p>None.</p>\n")
    return page(clean(title), "".join(parts), types=names, style=excerpts.STYLE, script=_SCRIPT)


def _counts(counts: Counter[str]) -> str:
    rows = "".join(
        f'<tr><th>{kind}</th><td>{counts[kind]:,}</td><td class="faint">{_MEANINGS[kind]}</td></tr>\n' for kind in KINDS
    )
    return f"<table>\n{rows}</table>\n"


def _choices(counts: Counter[str], names: Sequence[str]) -> str:
    kinds = {"": "all", **{kind: f"{kind} ({counts[kind]:,})" for kind in KINDS if counts[kind]}}
    orders = {"certainty": "most certain", "text": "text", "type": "type"}
    chosen = select("kind", "kind", kinds) + select("type", "type", type_values(names))
    return (
        f'<form id="choose" class="script" hidden>{chosen}'
        f'{select("order", "order by", orders)}<output id="shown" class="faint"></output></form>\n'
    )


def _articles(
    documents: Sequence[Document],
    suspects: Sequence[Suspect],
    annotated: dict[int, list[Track]],
    cuts: dict[int, list[tuple[int, int]]],
    names: Sequence[str],
) -> Iterator[str]:
    in_text = sorted(range(len(suspects)), key=lambda n: (suspects[n].document, suspects[n].start))
    place = {n: i for i, n in enumerate(in_text)}
    for n, suspect in enumerate(suspects):
        document = documents[suspect.document]
        other = [] if suspect.other is None else tracks(document.copy(mentions=[suspect.other]), names)
        types = sorted({clean(mention.type) for mention in suspect.mentions})
        data = {"kind": suspect.kind, "n": n, "place": place[n], "type": types[0], "types": dumps(types)}
        attributes = " ".join(f'data-{key}="{escape(str(value))}"' for key, value in data.items())
        sides = {"annotated": annotated[suspect.document], "expected": other}
        body = both_sides(document.text, suspect.mentions, cuts[suspect.document], sides)
        yield (
            f'<article class="e" {attributes}><h4>{suspect.kind} <span class="faint">'
            f"<bdi>{plain(suspect.name_in(documents))}</bdi>, {suspect.certainty:.1%}</span></h4>\n{body}</article>\n"
        )
