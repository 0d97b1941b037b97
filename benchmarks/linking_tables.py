"""Tables of `linking.py` that the paper has beside its scores: corpora, kinds of errors, and what each row ran."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Document, Mention
from spanloom.link.linker import PAPER_FEATURES, Linker
from spanloom.link.proposals import NAME_CLOSE, FoundSpans, Proposer
from spanloom.vocabulary import Vocabulary

LONG = 5  # words from which on lengths are not distinguished
ORACLE = "oracle"  # is among a linker's parameters where its candidates are those of `oracle`
# articles, mentions, concepts
TABLE_3 = {"bc5cdr": ("1,500", "12,864", "5,818"), "ncbi": ("793", "6,892", "1,049")}
STATISTICS = (
    "corpus", "paper: articles", "mentions", "concepts", "ours: articles", "mentions", "different concepts",
    "concepts, once an article",
)  # fmt: skip
# of 100 errors of the joint model, drawn at random
FIGURE_4 = ("paper: joint", "100", "38 %", "14 %", "48 %", "63.3 %", "", "")
ERRORS = (
    "model", "errors", "DEN FN", "DEN FP", "DEN&DER FP", "of these: boundary", "DEN FN: not found",
    "DEN FN: found, linked to nothing",
)  # fmt: skip
SETTINGS = (
    "model", "task", "candidates", "concept added", "memory in training", "features of words",
    "templates 2, 4b, 6 to 10", "11 to 14", "language model", "spans and candidates", "chain's probabilities",
    "history", "composites", "margin", "step of words", "passes at most", "patience", "bias",
)  # fmt: skip


def statistics(name: str, parts: Sequence[Sequence[Document]]) -> list[str]:
    """A row of Table 3, the paper's figures and ours."""
    documents = [document for part in parts for document in part]
    concepts = [{concept for m in document.mentions for concept in m.concepts} for document in documents]
    counts = (len(documents), sum(len(d.mentions) for d in documents), len(set().union(*concepts)))
    return [name, *TABLE_3[name], *(f"{count:,}" for count in (*counts, sum(map(len, concepts))))]


def errors(gold: Sequence[Document], predicted: Sequence[Document], vocabulary: Vocabulary) -> Counter[str]:
    """Errors by the kinds of section 4.2, each counted once.

    A gold mention that no prediction overlaps, or that is found and linked to nothing, is a DEN FN; one that is found
    and linked to another concept is a DEN FP; a prediction at other boundaries is a DEN&DER FP, a *boundary* error if
    it overlaps a gold mention, else noise.
    """
    counts: Counter[str] = Counter()
    for truth, found in zip(gold, predicted, strict=True):
        wanted = {mention.spans: numbers(mention, vocabulary) for mention in truth.mentions}
        for mention in found.mentions:
            own = numbers(mention, vocabulary)
            if mention.spans not in wanted:
                counts["boundary" if any(overlap(mention, other) for other in truth.mentions) else "noise"] += 1
            elif own != wanted[mention.spans]:
                counts["wrong" if own else "unlinked"] += 1
        counts["missed"] += sum(not any(overlap(m, other) for other in found.mentions) for m in truth.mentions)
    return counts


class Inside(NamedTuple):
    """What the mentions of one sentence are called and linked to."""

    strings: set[str]
    concepts: set[int]


def inside(document: Document, vocabulary: Vocabulary) -> dict[int, Inside]:
    """Of each sentence with mentions."""
    found: dict[int, Inside] = defaultdict(lambda: Inside(set(), set()))
    for mention in document.mentions:
        sentence = found[sentence_of(document, mention)]
        sentence.strings.add(mention.text(document.text))
        sentence.concepts.update(numbers(mention, vocabulary))
    return found


def sentence_of(document: Document, mention: Mention) -> int:
    """The number of the sentence in which a mention begins."""
    assert document.tokens is not None and document.sentences is not None
    token = np.searchsorted(document.tokens[:, 1], mention.start, side="right")
    return int(np.searchsorted(document.sentences[:, 1], token, side="right"))


def right(document: Document, other: Document, vocabulary: Vocabulary) -> Iterator[tuple[bool, bool]]:
    """Of each mention whether the same sentence of the other document has its string, and all its concepts."""
    there = inside(other, vocabulary)
    for mention in document.mentions:
        strings, concepts = there.get(sentence_of(document, mention), Inside(set(), set()))
        own = numbers(mention, vocabulary)
        yield mention.text(document.text) in strings, bool(own) and own <= concepts


def as_authors(gold: Sequence[Document], predicted: Sequence[Document], vocabulary: Vocabulary) -> list[str]:
    """Precision, recall and F1 of mentions, and of concepts, in percent, as the authors' program counts them.

    A predicted mention is right if any gold mention of its sentence has the same string, and its concept is right if
    any gold mention of its sentence has that concept, whatever their boundaries; of several concepts, all. Both are
    divided by the predicted mentions, and by the gold ones.
    """
    pairs = [row for truth, found in zip(gold, predicted, strict=True) for row in right(found, truth, vocabulary)]
    wanted = sum(len(document.mentions) for document in gold)
    rates = []
    for correct in (sum(row[0] for row in pairs), sum(row[1] for row in pairs)):
        precision, recall = correct / max(1, len(pairs)), correct / max(1, wanted)
        rates += [precision, recall, 2 * correct / max(1, len(pairs) + wanted)]
    return [f"{100 * rate:.1f}" for rate in rates]


def by_length(gold: Sequence[Document], sides: Sequence[Sequence[Document]]) -> list[list[str]]:
    """Rows of Figure 3: words of a mention, and how many of them each side predicts, with their precision in percent.

    Mentions of `LONG` words and more are together.
    """
    counts: list[dict[int, list[int]]] = []
    for predicted in sides:
        counts.append(defaultdict(lambda: [0, 0]))
        for truth, found in zip(gold, predicted, strict=True):
            wanted = {mention.spans for mention in truth.mentions}
            for mention in found.mentions:
                count = counts[-1][min(LONG, len(mention.text(found.text).split()))]
                count[0] += mention.spans in wanted
                count[1] += 1
    rows = []
    for length in sorted(set().union(*counts)):
        cells = [f"{length}" + " and more" * (length == LONG)]
        for correct, predicted_count in (side[length] for side in counts):
            cells += [f"{predicted_count:,}", f"{100 * correct / max(1, predicted_count):.1f}"]
        rows.append(cells)
    return rows


@contextmanager
def oracle(documents: Iterable[Document], vocabulary: Vocabulary) -> Iterator[None]:
    """While it is open, linkers have no candidates but those of a table that knows all answers.

    A span that is written just as a gold mention of these documents has the concepts of all gold mentions that are
    written so; any other that is written just as a name of the vocabulary has that name's concepts; all others have
    none.
    """
    table: dict[str, dict[int, None]] = defaultdict(dict)
    for document in documents:
        for mention in document.mentions:
            table[mention.text(document.text)].update(dict.fromkeys(sorted(numbers(mention, vocabulary))))
    names: dict[str, dict[int, None]] = defaultdict(dict)
    for name, concept in zip(vocabulary.names, vocabulary.name_concept.tolist(), strict=True):
        names[name][concept] = None

    def found(proposer: Proposer, texts: list[str], *_: Any) -> tuple[list[FoundSpans], Any]:
        number = {text: n for n, text in enumerate(dict.fromkeys(texts))}
        rows = (list(table[text] if text in table else names.get(text, ()))[: proposer.most] for text in number)
        return [exactly(row) for row in rows], np.array([number[text] for text in texts], np.int64)

    saved = Proposer._found
    Proposer._found = found  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Proposer._found = saved  # type: ignore[method-assign]


def exactly(concepts: Sequence[int]) -> FoundSpans:
    """Candidates that are all names, and equally near."""
    size = len(concepts)
    return FoundSpans(
        np.array(concepts, np.int32), np.full(size, NAME_CLOSE, np.int8), np.full(size, 1 << NAME_CLOSE, np.int16),
        np.zeros(size, np.float32), np.ones(size, np.float32), np.zeros(size, bool),
    )  # fmt: skip


def error_row(model: str, counts: Mapping[str, int]) -> list[Any]:
    """A row of shares."""
    total, false = sum(counts.values()), counts["boundary"] + counts["noise"]
    missing = counts["missed"] + counts["unlinked"]
    shares = (missing, counts["wrong"], false)
    return [
        model, total, *(f"{100 * share / total:.0f} %" for share in shares),
        f"{100 * counts['boundary'] / false:.1f} %", counts["missed"], counts["unlinked"],
    ]  # fmt: skip


def numbers(mention: Mention, vocabulary: Vocabulary) -> frozenset[int]:
    """The concepts of a mention that the vocabulary knows."""
    return frozenset(vocabulary.find(concept) for concept in mention.concepts) - {-1}


def overlap(one: Mention, other: Mention) -> bool:
    """Whether two mentions share a character."""
    return any(a < d and c < b for a, b in one.spans for c, d in other.spans)


def settings(model: str, steps: Sequence[Mapping[str, Any]], iterations: int, biases: Sequence[float]) -> list[Any]:
    """What a row ran; of a pipeline, both parts where they differ.

    Args:
        model: its name.
        steps: parameters of its linkers, beside the defaults.
        iterations: passes where a row says nothing else.
        biases: that were chosen.
    """
    rows = [described({"iterations": iterations, **step}) for step in steps]
    cells = [" + ".join(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    chosen = " + ".join(f"{bias:g}" for bias in biases)
    return [model, *cells[:-1], cells[-1] if cells[-1] == "none" else f"tuned, {chosen}"]


def described(params: Mapping[str, Any]) -> list[str]:
    """The cells of one linker's parameters."""
    params = dict(params)
    table = params.pop(ORACLE, False)
    p = Linker(**{**params, "language_model": None, "clusters": None}).get_params()
    words = "the paper's" if p["features"] == PAPER_FEATURES else f"{p['features']}"
    if params.get("clusters"):
        words += f", {params['clusters']} clusters"
    words += ", dictionary" * p["dictionary"]
    candidates = "of a table that knows all answers" if table else f"{p['candidates']} by {p['method']}"
    template = "template 15" + " and words" * p["language_words"]
    far = p["nonlocal_features"] and p["task"] == "joint"
    return [
        p["task"], candidates, said(p["gold_candidates"]),
        "all parts" if p["own_memory"] else "other parts", words, said(p["state_features"]), said(far),
        template if params.get("language_model") else "no", said(p["segments"]), said(p["evidence"]),
        said(p["history"]), said(p["composites"]), f"{p['margin']:g}", f"{p['word_rate']:g}", str(p["iterations"]),
        str(p["patience"]), "tuned" if p["tune_bias"] else "none",
    ]  # fmt: skip


def said(value: bool) -> str:
    """Yes or no."""
    return "yes" if value else "no"
