"""Tables of `linking.py` that the paper has beside its scores: corpora, kinds of errors, and what each row ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from spanloom.document import Document, Mention
from spanloom.link.linker import PAPER_FEATURES, Linker
from spanloom.vocabulary import Vocabulary

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
    p = Linker(**{**params, "language_model": None, "clusters": None}).get_params()
    words = "the paper's" if p["features"] == PAPER_FEATURES else f"{p['features']}"
    if params.get("clusters"):
        words += f", {params['clusters']} clusters"
    words += ", dictionary" * p["dictionary"]
    template = "template 15" + " and words" * p["language_words"]
    far = p["nonlocal_features"] and p["task"] == "joint"
    return [
        p["task"], f"{p['candidates']} by {p['method']}", said(p["gold_candidates"]),
        "all parts" if p["own_memory"] else "other parts", words, said(p["state_features"]), said(far),
        template if params.get("language_model") else "no", said(p["segments"]), said(p["evidence"]),
        said(p["history"]), said(p["composites"]), f"{p['margin']:g}", f"{p['word_rate']:g}", str(p["iterations"]),
        str(p["patience"]), "tuned" if p["tune_bias"] else "none",
    ]  # fmt: skip


def said(value: bool) -> str:
    """Yes or no."""
    return "yes" if value else "no"
