"""From the bytes of a body to the bytes of an answer: the work on a request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.formats import from_record, to_record
from spanloom.formats.json_text import loads, to_json
from spanloom.formats.record import mention_record
from spanloom.serve.limits import Limits, Refused
from spanloom.serve.served import Served
from spanloom.text import prepare

FEATURES = 12  # of each role and candidate in an explanation
NO_TRAINING = "this server does not train; use spanloom train on the exported annotation, and serve the new model"


class Job(NamedTuple):
    """Request to a model; the body is separate.

    Args:
        verb: a key of `spanloom.serve.worker.VERBS`; those for "predict" can be answered as one batch.
        model: its name.
        threshold: leave out mentions with a lower score.
        others: whether mentions that are considered, but not found, are asked for.
        expand: whether the mentions that coordinated ones stand for are added.
    """

    verb: str
    model: str
    threshold: float = 0.0
    others: bool = False
    expand: bool = False


def error(message: str) -> bytes:
    """The body of an answer that refuses."""
    return encode({"error": message})


def predict(
    served: Served, raws: Sequence[bytes], limits: Limits, *,
    threshold: float = 0.0, others: bool = False, expand: bool = False,
) -> list[bytes]:  # fmt: skip
    """For each request the record with the mentions that a model finds; a list of them for a list.

    The documents of all requests are predicted as one batch, which changes none of the answers.

    Args:
        served: the model.
        raws: the body of each request: a record, or a list of records, as JSON.
        limits: of each request.
        threshold: leave out mentions with a lower score.
        others: whether ``meta["others"]`` lists mentions that are considered, but not found.
        expand: whether the mentions that coordinated ones stand for are added.

    Raises:
        Refused: a body is not JSON, or holds no records, or too many, or too long ones.
    """
    values = list(map(parse, raws))
    given = [_documents(value, limits) for value in values]
    documents = list(chain.from_iterable(given))
    marked: Iterable[Document] = served.stream(documents, threshold, expand)
    if others:
        marked = list(map(_with_others, marked, served.others(documents)))
    records = map(to_record, marked)
    found = [list(islice(records, len(some))) for some in given]
    return [encode(some if isinstance(value, list) else some[0]) for value, some in zip(values, found, strict=True)]


def suggest(served: Served, raw: bytes, limits: Limits) -> bytes:
    """What a model suggests beside the mentions of a record, all by probability.

    Args:
        served: the model.
        raw: a record as ``document``, and rejected mentions as ``rejected``, as JSON.
        limits: of the request.

    Raises:
        Refused: the body is not that.
    """
    value = parse(raw)
    if not isinstance(value, dict) or not isinstance(value.get("document"), dict):
        raise Refused(422, "expected an object with a record as 'document' and a list of mentions as 'rejected'")
    records = value["document"], {**value["document"], "mentions": value.get("rejected", [])}
    document, rejected = ready([document_of(one, "the record") for one in records], limits)
    problem = ""
    try:
        found = served.suggested(document, rejected)
    except DataError as error:
        problem, plain = str(error), document.copy(mentions=[])
        found = served.suggested(plain, rejected)
    mentions = [mention_record(mention) for one in found for mention in one.mentions]
    return encode({"mentions": sorted(mentions, key=lambda one: -one.get("score", 1)), "problem": problem})


def _documents(value: object, limits: Limits) -> list[Document]:
    batch = isinstance(value, list)
    records = value if isinstance(value, list) else [value]
    if len(records) > limits.documents:
        raise Refused(413, f"the batch has {len(records):,} records, at most {limits.documents:,} are taken; split it")
    given = (document_of(one, f"record {n}" if batch else "the record") for n, one in enumerate(records))
    return ready(list(given), limits)


def explain(served: Served, raw: bytes, limits: Limits) -> bytes:
    """Explain why a model finds a mention, or does not.

    Args:
        served: the model.
        raw: a record as ``document`` and a mention of it as ``mention``, as JSON.
        limits: of the request.

    Raises:
        Refused: the body is not that, or the model has no answer for it.
    """
    value = parse(raw)
    if not isinstance(value, dict) or not isinstance(value.get("document"), dict) or "mention" not in value:
        raise Refused(422, "expected an object with a record as 'document' and a mention of it as 'mention'")
    [document] = ready([document_of({**value["document"], "mentions": [value["mention"]]}, "the record")], limits)
    try:
        found = served.explain(document.copy(mentions=[]), document.mentions[0])
    except UsageError as error:
        raise Refused(422, str(error)) from None
    return encode(_finite(found.record(FEATURES)))


def parse(raw: bytes) -> object:
    """A body as JSON.

    Raises:
        Refused: the body is not JSON.
    """
    try:
        return loads(raw, "body")
    except DataError as error:
        raise Refused(400, str(error)) from None


def document_of(record: object, place: str) -> Document:
    """The document of a record.

    Raises:
        Refused: the record is invalid; the message names the place and the first problem.
    """
    try:
        return from_record(record)
    except DataError as error:
        kind = error.message.removeprefix("the line is ")
        message = f"{place}: {kind}" if kind == error.message else f"{place} is {kind}"
        raise Refused(422, message) from None


def ready(documents: list[Document], limits: Limits) -> list[Document]:
    """Documents with tokens and sentences, if they are short enough together, and each sentence is.

    Raises:
        Refused: they are not.
    """
    size = sum(len(document.text) for document in documents)
    if size > limits.text:
        raise Refused(413, f"the text has {size:,} characters, at most {limits.text:,} are taken at once; split it")
    prepared = list(map(prepare, documents))
    for document in prepared:
        for first, end in [] if document.sentences is None else document.sentences.tolist():
            if end - first > limits.sentence and document.tokens is not None:
                start = int(document.tokens[first, 0])
                raise Refused(
                    413,
                    f"the sentence at character {start:,} has {end - first:,} tokens, at most {limits.sentence:,} are "
                    "taken; end sentences with full stops or blank lines, or give a record with its sentences",
                )
    return prepared


def encode(value: Any) -> bytes:
    """JSON as bytes."""
    return to_json(value).encode()


def _with_others(document: Document, considered: Document) -> Document:
    """A document with what was considered, and is not among its mentions, as ``meta["others"]``."""
    there = {(mention.type, mention.spans) for mention in document.mentions}
    others = [mention for mention in considered.mentions if (mention.type, mention.spans) not in there]
    return document.copy(meta={**document.meta, "others": list(map(mention_record, others))})


def _finite(value: Any) -> Any:
    """A value with null in place of the infinities, which JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value
