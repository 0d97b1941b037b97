"""`spanloom validate`: what is wrong with data, and what is in it."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from spanloom.cli.data_verbs import Validate
from spanloom.cli.execute import DONE, FAILED
from spanloom.cli.messages import Messages
from spanloom.cli.reading import column_options
from spanloom.document import Document, align
from spanloom.document.validate import Problem
from spanloom.document.validate import validate as validate_document
from spanloom.errors import one_line, plural
from spanloom.evaluate.compare import joined, overlaps
from spanloom.files import STDIO
from spanloom.formats import read, validate
from spanloom.formats.attributes import to_text
from spanloom.formats.scanning import format_of_input
from spanloom.formats.source import input_chunks
from spanloom.text import prepare

_VALUES, _LONG = 10, 60  # values of an attribute that are listed, and characters of each
_TOKEN_KINDS = ("cuts a token", "crosses sentences")  # warnings that need tokens


def run(args: Validate) -> int:
    """List the problems; count what is there if none of them is an error."""
    input_format = args.input_format or (format_of_input() if args.data == STDIO else None)
    options = {"format": input_format, **column_options(args.columns, args.texts, args.tag_names)}
    severities = {"error": 0, "warning": 0}
    listed: list[dict[str, object]] = []
    counts = CorpusCounts()

    def problems(path: str) -> Iterator[Problem]:
        """All problems; then, if no error keeps the data from being read, what our own tokens show, while counting."""
        yield from validate(path, **options)
        if severities["error"]:
            return
        for document in read(path, notice=lambda _: None, **options):  # all of it was listed already
            counts.add(document)
            if document.tokens is None:
                for problem in validate_document(prepare(document)):
                    if problem.kind in _TOKEN_KINDS:
                        yield replace(problem, path=path, place=f"document {document.id}: {problem.place}")

    # input of an unknown format is refused by its own name, and not by that of a copy
    with nullcontext(args.data) if input_format is None else _seekable(args.data) as path:
        for problem in problems(path):
            severities[problem.severity] += 1
            placed = replace(problem, path="standard input") if args.data == STDIO else problem
            if args.as_json:
                listed.append(asdict(placed))
            else:
                print(placed)
    failed = severities["error"] > 0
    if args.as_json:
        print(json.dumps({"problems": listed, "counts": None if failed else counts.to_dict()}, indent=2))
    elif not failed:
        print(counts.to_text())
    found = " and ".join(plural(number, severity) for severity, number in severities.items())
    Messages(args.quiet)(found + "; contents are counted when there are no errors" * bool(severities["error"]))
    return FAILED if failed else DONE


@contextmanager
def _seekable(data: str) -> Iterator[str]:
    # the data are read twice: first for every problem, then, if all of it can be read, to count
    if data != STDIO:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        with path.open("wb") as file:
            file.writelines(input_chunks())
        yield str(path)


@dataclass(slots=True)
class CorpusCounts:
    """Counts over documents; tokens and sentences are Spanloom's own where the data have none.

    Args:
        documents: how many.
        sentences: how many.
        tokens: how many.
        mentions: how many, repetitions included.
        types: mentions of each type.
        attributes: name -> mentions with each value.
        sections: how many.
        nested: different mentions that contain another or are contained in one; see `spanloom.evaluate.Overlaps`.
        crossing: those that share characters with another, and neither contains the other.
        discontiguous: those that skip words.
        cutting: mentions that begin or end inside a token.
        crossing_sentences: mentions that no sentence holds as a whole.

    >>> from spanloom.document import Mention
    >>> counts = CorpusCounts()
    >>> counts.add(Document("No chest pain.", mentions=[Mention("problem", [(3, 13)]), Mention("body", [(3, 8)])]))
    >>> counts.tokens, counts.nested, counts.crossing, dict(counts.types)
    (4, 2, 0, {'problem': 1, 'body': 1})
    """

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    mentions: int = 0
    types: Counter[str] = field(default_factory=Counter)
    attributes: dict[str, Counter[str]] = field(default_factory=dict)
    sections: int = 0
    nested: int = 0
    crossing: int = 0
    discontiguous: int = 0
    cutting: int = 0
    crossing_sentences: int = 0

    def add(self, document: Document) -> None:
        """Count a document."""
        document = prepare(document)
        self.documents += 1
        self.sentences += document.sentence_count
        self.tokens += document.token_count
        self.mentions += len(document.mentions)
        self.types.update(mention.type for mention in document.mentions)
        self.sections += len(document.sections)
        for mention in document.mentions:
            for name, value in mention.attributes.items():
                self.attributes.setdefault(name, Counter())[to_text(value)] += 1
        found = overlaps(list({mention.key: mention for mention in joined(document)}.values()))
        self.nested += int(found.nested.sum())
        self.crossing += int(found.crossing.sum())
        self.discontiguous += int(found.discontiguous.sum())
        for alignment in align(document):
            self.cutting += alignment.ranges is None
            self.crossing_sentences += alignment.ranges is not None and alignment.sentence < 0

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        found = asdict(self) | {"types": dict(sorted(self.types.items()))}
        found["attributes"] = {name: dict(counts.most_common()) for name, counts in sorted(self.attributes.items())}
        return {name: value for name, value in found.items() if value or name not in ("attributes", "sections")}

    def to_text(self) -> str:
        """A table for a terminal, ending without a line end."""
        rows = [("documents", self.documents), ("sentences", self.sentences), ("tokens", self.tokens)]
        rows += [("mentions", self.mentions)]
        rows += [(f"  {name}", number) for name, number in sorted(self.types.items())]
        if self.attributes:
            rows += [("attributes", sum(counts.total() for counts in self.attributes.values()))]
        for name, counts in sorted(self.attributes.items()):
            rows += [(one_line(f"  {name}: {value}")[:_LONG], number) for value, number in counts.most_common(_VALUES)]
            if len(counts) > _VALUES:
                rest = counts.total() - sum(number for _, number in counts.most_common(_VALUES))
                rows += [(one_line(f"  {name}: {len(counts) - _VALUES:,} other values"), rest)]
        rows += [("sections", self.sections)] * bool(self.sections)
        rows += [("nested", self.nested), ("crossing", self.crossing), ("discontiguous", self.discontiguous)]
        rows += [("begin or end inside a token", self.cutting), ("cross a sentence end", self.crossing_sentences)]
        width = max(len(name) for name, _ in rows) + 2
        return "\n".join(f"{name:{width}}{number:>10,}" for name, number in rows)
