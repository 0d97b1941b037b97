"""`spanloom convert` and `spanloom split`: from one format to another, and into parts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from spanloom.cli.data_verbs import Convert, Split
from spanloom.cli.execute import FAILED
from spanloom.cli.messages import Messages, counted
from spanloom.cli.reading import Reading, lost, number_of, write_all
from spanloom.document import Document
from spanloom.document.parts import split
from spanloom.errors import DataError, UsageError, clip
from spanloom.files import STDIO
from spanloom.files.output import check_free, output_folder
from spanloom.formats import FORMATS, Losses, write
from spanloom.formats.answers import AnswerReport, AnswerSettings, align_answers
from spanloom.formats.scanning import format_named
from spanloom.model.corpus import TypeFilter
from spanloom.text import prepare
from spanloom.view.cells import aligned


def split_run(args: Split) -> int | None:
    """Read all, divide, write a file or folder for each part, and count what is in each."""
    log = Messages(args.quiet)
    shares = parse_parts(args.parts)
    kind = format_named(args.output_format, writes=True)
    empty = Path(args.output).is_dir() and not any(Path(args.output).iterdir())
    check_free(args.output, force=args.force or empty)  # before the data are read, not after it
    reading = Reading.of(args, log)
    documents = list(counted(reading(args.source), "reading", quiet=args.quiet, total=partial(number_of, args.source)))
    try:
        found = split(documents, shares, args.seed or 0, args.by)
    except DataError as error:
        raise DataError(error.message, path=", ".join(args.source)) from None
    names = {name: name if kind.name in _FOLDERS else f"{name}{kind.suffixes[0]}" for name in found}
    root, losses = Path(args.output).resolve(), Losses()

    def may_replace(file: Path) -> bool:
        inside = file.resolve().relative_to(root)
        return inside.parts[0] in names.values() and (len(inside.parts) == 1 or inside.suffix in _ENDINGS)

    with output_folder(args.output, force=args.force, may_replace=may_replace) as folder:
        for name, part in found.items():
            ready = map(prepare, part) if kind.name in _TOKENIZED else part
            for what, count in write(ready, folder / names[name], kind.name).counts.items():
                losses.add(what, count)
    if losses:
        log.notice(lost(losses))
    counts: dict[str, dict[str, Any]] = {}
    for name, part in found.items():
        types = Counter(mention.type for document in part for mention in document.mentions)
        counts[name] = {"documents": len(part), "mentions": types.total(), "types": dict(sorted(types.items()))}
    print(json.dumps(counts, ensure_ascii=False, indent=2) if args.as_json else _table(counts))
    return reading.finish()


def parse_parts(parts: str) -> dict[str, float]:
    """Return the name of each part and its share.

    Raises:
        UsageError: something else than ``name=share`` with commas between.

    >>> parse_parts("train=8,dev=1,test=1")
    {'train': 8.0, 'dev': 1.0, 'test': 1.0}
    """
    found: dict[str, float] = {}
    for part in parts.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        if _NAME.fullmatch(name) is None or re.fullmatch(r"[0-9]*\.?[0-9]+", share) is None or name in found:
            expected = "names of their own and shares, such as train=8,dev=1,test=1"
            raise UsageError(f"--parts holds {clip(part)}, expected {expected}")
        found[name] = float(share)
    return found


def _table(counts: Mapping[str, dict[str, Any]]) -> str:
    types = sorted({kind for part in counts.values() for kind in part["types"]})
    rows = [["", *counts]]
    rows += [[name, *(f"{part[name]:,}" for part in counts.values())] for name in ("documents", "mentions")]
    rows += [[f"  {kind}", *(f"{part['types'].get(kind, 0):,}" for part in counts.values())] for kind in types]
    return "\n".join(aligned(rows, numbers=True))


def run(args: Convert) -> int | None:
    """Read and write, a document at a time; report the losses."""
    output_format = args.output_format
    log = Messages(args.quiet)
    of_format = {"columns": args.columns, "texts": args.texts, "tag_names": args.tag_names}
    reading = Reading(log, input_format=args.input_format, on_error=args.on_error, **of_format)
    given: dict[str, Any] = {"type": args.mention_type, "ambiguous": args.ambiguous, "annotation": args.annotation}
    given = {name: value for name, value in given.items() if value is not None}
    if args.from_llm is None and given:
        raise UsageError(f"--{next(iter(given))} is about the answers of a language model; name them with --from-llm")
    try:
        settings = AnswerSettings(**given)
    except UsageError as error:
        raise UsageError(f"--{error}") from None
    documents: Iterable[Document] = reading(args.source, mentions=args.from_llm is None)
    documents = counted(documents, "converting", quiet=args.quiet, total=partial(number_of, args.source))
    report = AnswerReport()
    if args.from_llm is not None:
        if STDIO in args.source and args.from_llm == STDIO:
            raise UsageError("standard input (-) can be read only once; give the answers or the texts as a file")
        documents = align_answers(documents, args.from_llm, settings, report, stop=args.on_error == "stop")
    documents = TypeFilter(args.types).checked(documents)
    named = [kind.name for kind in FORMATS.values() if output_format is None and kind.named(Path(args.target))]
    if not set(_TOKENIZED).isdisjoint(named or [output_format]):
        documents = map(prepare, documents)
    if output_format is None and args.target == STDIO:
        output_format = "jsonl"  # as of `predict`; a file name without a known suffix is an error here
    options: dict[str, Any] = {} if args.scheme is None else {"scheme": args.scheme}
    write_all(documents, args.target, log, output_format, force=args.force, **options)
    code = reading.finish()
    for problem in report.problems:  # unreadable answers even if quiet
        is_error = problem.severity == "error"
        (Messages() if is_error else log).notice(f"{'left out: ' * is_error}{problem.to_error()}")
    if args.from_llm is not None:
        log(f"spanloom: {report}")
    return FAILED if report.unreadable else code


# `spanloom split`: documents divided into parts, such as for training, development and testing.

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TOKENIZED = ("conll", "conllu")  # formats of tokens, which are made where a document has none
_FOLDERS = ("brat", "text", "xmi")  # formats that need a folder for several documents
_ENDINGS = (".txt", ".ann", ".xmi", ".xml")  # of files in such folders
