"""`spanloom explain`: why a model finds a mention or not, and its best alternative."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from spanloom.cli.app import Explain
from spanloom.cli.predict import load_model
from spanloom.cli.reading import input_format_of
from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.formats import read
from spanloom.models import explain
from spanloom.scoring import Part
from spanloom.scoring.explanation import Candidate, Contribution, Explanation
from spanloom.view.cells import shorten
from spanloom.view.svg import clean

_MENTION = re.compile(r"(\d+-\d+(?:,\d+-\d+)*):(.+)", re.DOTALL)
_LONG = 60


def run(args: Explain) -> None:
    """Print explanations as they are found; as one JSON array with ``as_json``."""
    if (args.source is None) == (args.text is None):
        raise UsageError("explain needs either INPUT or --text TEXT")
    requested = [parse_mention(value) for value in args.mention or ()]
    predictor = load_model(args.model, args.jobs, args.encoder)
    given: Iterable[Document]
    if args.text is not None:
        given = [Document(args.text)]
    else:
        given = read(args.source or "", format=input_format_of(args, args.source))
    documents: Iterator[Document] = islice(_chosen(given, args.document), args.limit)
    if requested:
        first, more = next(documents, None), next(documents, None)
        if first is None or more is not None:
            speaks = "and --mention speaks of one; name it with --document ID, or use --limit 1"
            raise UsageError(f"found {'no document' if first is None else 'several documents'}, {speaks}")
        documents = iter([first])
    records = []
    for number, one in enumerate(documents):
        found = explain(predictor, one, requested or None)
        if args.as_json:
            records.append({"document": one.id, "explanations": [item.record(args.top or None) for item in found]})
            continue
        if number:
            print()
        print("\n".join(_lines(one, found, args.top)), flush=True)
    if args.as_json:
        print(json.dumps(records, indent=2))


def parse_mention(value: str) -> Mention:
    """A mention as the command line names it.

    Raises:
        UsageError: it cannot be read.

    >>> parse_mention("16-20,31-41:anatomy").spans
    (Span(start=16, end=20), Span(start=31, end=41))
    """
    match = _MENTION.fullmatch(value)
    spans = [] if match is None else [tuple(map(int, part.split("-"))) for part in match[1].split(",")]
    bounds = [bound for span in spans for bound in span]
    if match is None or bounds != sorted(set(bounds)):
        raise UsageError(
            f"found --mention {value}, expected START-END:TYPE, or START-END,START-END:TYPE with a gap, in characters"
        )
    return Mention(match[2], spans)


def _chosen(documents: Iterable[Document], name: str | None) -> Iterator[Document]:
    """The documents, or the one of a name."""
    if name is None:
        yield from documents
        return
    names = []
    for document in documents:
        if document.id == name:
            yield document
            return
        names.append(document.id)
    raise UsageError(f"no document {name!r}; the first are {', '.join(map(repr, names[:5]))}")


def _lines(document: Document, found: Sequence[Explanation], top: int) -> Iterator[str]:
    if document.id:
        yield f"{_short(document.id)}"
    if not found:
        yield "no mention is predicted"
    for number, explanation in enumerate(found):
        if number:
            yield ""
        mention = explanation.mention
        parts = [_named(document.text, mention), ", ".join(f"{start}-{end}" for start, end in mention.spans)]
        if mention.head is not None:
            parts.append(f"head {_short(document.text[mention.head.start : mention.head.end])}")
        parts += mention.concepts
        if mention.score is not None:
            exact = "" if explanation.marginal is None else f" (marginal {explanation.marginal:.1%})"
            parts.append(f"{mention.score:.1%}{exact}")
        yield "  ".join([*parts, "predicted" if explanation.predicted else "not predicted"])
        if explanation.words:
            yield f"  {explanation.words}"
        if explanation.log_odds is None:
            yield from _candidates(explanation.candidates, top)
        else:
            yield f"  log-odds {explanation.log_odds:+.3f} against the best structure without it"
            own, others = explanation.winner, explanation.runner_up
            keys = {(m.key, m.head) for m in own}, {(m.key, m.head) for m in others}
            instead = [_named(document.text, m) for m in others if (m.key, m.head) not in keys[0]]
            lost = [_named(document.text, m) for m in own if (m.key, m.head) not in keys[1] and m.key != mention.key]
            yield f"  without it: {', '.join(instead) or 'nothing in its place'}"
            if lost:
                yield f"  with it only: {', '.join(lost)}"
            yield from _contributions(explanation.contributions, top)
            if explanation.whole:
                yield f"  as a whole: log-odds {sum(part.score for part in explanation.whole):+.3f}"
                yield from _parts(explanation.whole, top)
            if explanation.candidates:
                yield "  concepts:"
                yield from _candidates(explanation.candidates, top)


def _named(text: str, mention: Mention) -> str:
    """Its words, with an ellipsis for each gap, and its type."""
    return f"{_short(' … '.join(text[start:end] for start, end in mention.spans))} ({_short(mention.type)})"


def _contributions(contributions: Sequence[Contribution], top: int) -> Iterator[str]:
    shown = contributions[: top or None]
    for item in shown:
        place = f" at {_short(item.text)} ({item.span.start}-{item.span.end})" if item.span is not None else ""
        side = "it has" if item.times > 0 else "the other has"
        times = f" {abs(item.times)} times" if abs(item.times) > 1 else ""
        yield f"  {item.score:+8.3f}  {side} {_short(item.role)}{place}{times}"
        yield from _parts([Part(name, item.times * score) for name, score in item.features], top)
    rest = contributions[len(shown) :]
    if rest:
        yield f"  {sum(item.score for item in rest):+8.3f}  {len(rest)} more"


def _parts(parts: Sequence[Part], top: int) -> Iterator[str]:
    shown = parts[: top or None]
    yield from (f"      {score:+8.3f}  {_short(name)}" for name, score in shown)
    rest = parts[len(shown) :]
    if rest:
        yield f"      {sum(part.score for part in rest):+8.3f}  {len(rest)} more"


def _candidates(candidates: Sequence[Candidate], top: int) -> Iterator[str]:
    shown = candidates[: top or None]
    for rank, candidate in enumerate(shown):
        name = f"{', '.join(candidate.concepts)} {_short(candidate.name)}, by" if candidate.concepts else "-"
        over = f"{candidate.score - candidates[0].score:+.3f}" if rank else ""
        yield f"  {candidate.score:10.3f} {over:>10}  {name} {candidate.way}"
        if len(candidates) > 1:
            yield from _parts(candidate.features, top)
    if len(candidates) > len(shown):
        yield f"  {len(candidates) - len(shown)} more candidates"


def _short(text: str) -> str:
    return shorten(clean(" ".join(text.split())), _LONG)
