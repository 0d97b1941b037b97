"""Writes the table of docs/capabilities.md by trying each capability with each kind of model.

    python docs/capabilities.py                      all, which takes some minutes
    python docs/capabilities.py --only segmenter     one column, the others as in docs/capabilities.json

A capability is a function that uses a kind of model; what it raises is what the page shows. Encoders have random
weights; they need PyTorch.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from spanloom import Document, Linker, Mention, Recognizer, Segmenter, load
from spanloom.clean import find_suspects
from spanloom.errors import SpanloomError
from spanloom.label import label as label_documents
from spanloom.parallel import threads
from spanloom.recognize import compact as make_compact
from spanloom.recognize import teach
from spanloom.recognize.relying import Reliance
from spanloom.serve.served import served
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom_lab import Cascade

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = Path(__file__).parent / "capabilities.md"
RECORD: Final = PAGE.with_suffix(".json")
_TABLE: Final = ("<!-- table -->\n", "<!-- end -->\n")
_TEMPLATES: Final = ("bias", "w[-1..1]", "suffix(2)")
_DISEASES: Final = ("nausea", "kidney failure", "low blood pressure", "vomiting")
_FRAMES: Final = ("severe {} was seen today", "no {} after the drug", "he has {} and fever")
_CHINESE: Final = ("恶心", "头痛", "腹痛", "呕吐")
_VOCABULARY: Final = "".join(f"D{n}\t{name}\n" for n, name in enumerate(_DISEASES))


def notes(count: int = 42) -> list[Document]:
    """Sentences with a disease that is linked, its first word as a site, and an attribute."""
    found = []
    for n in range(count):
        frame, name = _FRAMES[n % len(_FRAMES)], _DISEASES[n // 2 % len(_DISEASES)]
        text, start = f"{frame.format(name)} {n % 7}", frame.index("{")
        negated = {"negated": frame.startswith("no")}
        whole = Mention("disease", [(start, start + len(name))], concepts=[f"D{_DISEASES.index(name)}"])
        site = Mention("site", [(start, start + len(name.split()[0]))])
        found.append(Document(text, id=str(n), mentions=[whole.replace(attributes=negated), site]))
    return found


def flat(count: int = 42) -> list[Document]:
    """The same without sites, with words as parts of speech."""
    made = (one.copy(mentions=one.mentions[:1]) for one in notes(count))
    return [one.copy(columns={"pos": [word[-1] for word in one.words]}) for one in map(prepare, made)]


def chinese(count: int = 42) -> list[Document]:
    """Chinese sentences with words, a symptom and an attribute."""
    found = []
    for n in range(count):
        name, begin = _CHINESE[n % len(_CHINESE)], ("患者", "无") if n % 2 else ("患者", "有")
        words = [*begin, name, "。" if n % 3 else "，", "今日"]
        ends = [sum(map(len, words[: i + 1])) for i in range(len(words))]
        tokens = [(end - len(word), end) for word, end in zip(words, ends, strict=True)]
        mention = Mention("symptom", [tokens[2]], concepts=[f"D{n % 4}"], attributes={"negated": begin[1] == "无"})
        found.append(Document("".join(words), id=str(n), tokens=tokens, mentions=[mention]))
    return found


@dataclass
class Kind:
    """A kind of model.

    Args:
        name: its column.
        make: gives an untrained one of some more parameters.
        corpus: that it is trained on.
        folder: for files.
        fitting: further arguments of ``fit``.
    """

    name: str
    make: Callable[..., Any]
    corpus: Callable[..., list[Document]]
    folder: Path
    fitting: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def data(self) -> list[Document]:
        """The training data."""
        return self.corpus()

    def fit(
        self, documents: Iterable[Document] | None = None, *, dev: Any = None, given: Any = None, **params: Any
    ) -> Any:
        """Return a trained model of some more parameters, and more arguments of ``fit``."""
        own = self.data if documents is None else documents
        return self.make(**params).fit(own, dev=dev or self.data[:30], **self.fitting, **(given or {}))

    @cached_property
    def model(self) -> Any:
        """A trained model."""
        return self.fit()

    @cached_property
    def saved(self) -> Path:
        """The folder of that one."""
        (self.folder / "models").mkdir(exist_ok=True)
        self.model.save(self.folder / "models" / self.name)
        return self.folder / "models" / self.name

    @property
    def bare(self) -> list[Document]:
        """Text without mentions."""
        return [Document(one.text) for one in self.data[:6]]


def kinds(folder: Path) -> list[Kind]:
    """The columns of the table."""
    encoder: list[str] = []
    once = {"rescore": False, "attributes": "off"}

    def tiny() -> str:
        if not encoder:
            shared = runpy.run_path(str(ROOT / "tests" / "encoder" / "encoder_helpers.py"))
            encoder.append(str(shared["write_encoder"](folder / "encoder")))
        return encoder[0]

    def of_features(estimator: Callable[..., Any], **params: Any) -> Callable[..., Any]:
        settings = {"features": _TEMPLATES, "epochs": 3, "l2": 1.0, **params}
        if "folds" in params:  # a linker has passes by another name, and no lambda
            del settings["epochs"], settings["l2"]
        return lambda **more: estimator(**{**settings, **more})

    def of_encoder(estimator: Callable[..., Any], **params: Any) -> Callable[..., Any]:
        settings = {"encoder_epochs": 2, "device": "cpu", "precision": "float32", "head_rate": 0.05, **once, **params}
        return lambda **more: estimator(encoder=tiny(), **{**settings, **more})

    (folder / "vocabulary.tsv").write_text("id\tname\n" + _VOCABULARY, encoding="utf-8")
    vocabulary = str(folder / "vocabulary.tsv")
    linker = of_features(Linker, iterations=2, folds=2)
    tagger = of_features(PosTagger)
    own_set = {"features": ("bias", "w[-1..1]"), "attributes": "off"}
    beside = {"structure": "separators", "with_features": True, "features": _TEMPLATES, "epochs": 2, "l2": 1.0}
    return [
        Kind("recognizer", of_features(Recognizer, **once, structure="separators"), notes, folder),
        Kind("encoder", of_encoder(Recognizer, structure="separators"), notes, folder),
        Kind("encoder and features", of_encoder(Recognizer, **beside), notes, folder),
        Kind("recognizer with link", of_features(Recognizer, **once, link=[vocabulary]), notes, folder),
        Kind("cascade", of_features(Cascade, passes="one"), notes, folder),
        Kind("segmenter", of_features(Segmenter, **own_set), chinese, folder),
        Kind("segmenter, encoder", of_encoder(Segmenter), chinese, folder),
        Kind("joint linker", linker, flat, folder, {"vocabulary": vocabulary}),
        Kind("tagger", tagger, flat, folder),
    ]  # fmt: skip


class NotDoneError(Exception):
    """A model does something else than the capability asks for."""


def _check(true: object, message: str) -> None:
    if not true:
        raise NotDoneError(message)


def _mentions(documents: Iterable[Document]) -> list[Mention]:
    return [mention for document in documents for mention in document.mentions]


def probabilities(kind: Kind) -> None:
    """Each mention has a probability, and each answer as a whole."""
    found = list(kind.model.stream(kind.bare, threshold=0.01, answers=True))
    _check(_mentions(found) and all(one.score is not None for one in _mentions(found)), "no scores")
    _check(all(0 <= one.meta["answer"]["probability"] <= 1 for one in found), "no answers")


def alternatives(kind: Kind) -> None:
    """Other candidate mentions, with their probabilities."""
    _check(len(list(kind.model.alternatives(kind.bare))) == len(kind.bare), "no documents")


def arrays(kind: Kind) -> None:
    """Mentions as arrays."""
    _check(list(kind.model.stream_arrays(kind.bare)), "no arrays")


def sweep(kind: Kind) -> None:
    """Mentions under several mention penalties."""
    _check(len(kind.model.sweep(kind.bare, [-1.0, 1.0])) == 2, "no documents")


def second_stage(kind: Kind) -> None:
    """Candidates are scored again as wholes."""
    many = kind.corpus(150)
    _check(kind.fit(many, dev=many, rescore=True).report_.rescoring is not None, "no second stage is trained")


def two_passes(kind: Kind) -> None:
    """A second pass sees what a first finds elsewhere in the document."""
    _check(kind.fit(passes="two").report_.passes is not None, "no first pass")


def split_tokens(kind: Kind) -> None:
    """Splits of tokens are learned."""
    found = kind.fit(split_tokens=True).predict(kind.bare)
    _check(len(found) == len(kind.bare), "no documents")


def _marked(kind: Kind, annotation: object) -> list[Document]:
    return [one.copy(meta={"annotation": annotation} if n % 2 else {}) for n, one in enumerate(kind.data)]


def partial_annotation(kind: Kind) -> None:
    """Learns from text of which only some mentions are marked."""
    kind.fit(_marked(kind, "at-least"))


def claims(kind: Kind) -> None:
    """Learns from spans that are declared to be no mention."""
    kind.fit(_marked(kind, {"default": "complete", "not": [{"spans": [[0, 2]]}]}))


def annotators(kind: Kind) -> None:
    """Learns from several annotators of the same texts."""
    kind.fit([one.copy(meta={"annotator": name}) for name in ("ada", "eve") for one in kind.data])


def given_mentions(kind: Kind) -> None:
    """Links or marks mentions that are given."""
    own = [one.copy(meta={}) for one in kind.data[:4]]
    more = {"attributes": "negated"} if "attributes" in kind.model.capable else {}
    found = list(kind.model.stream(own, mentions="given", **more))
    _check([m.key for m in _mentions(found)] == [m.key for m in _mentions(own)], "other mentions")


def teacher(kind: Kind) -> None:
    """Teaches a fast recognizer."""
    teach(kind.model, kind.bare * 5, train=kind.data[:60], dev=kind.data[:20], features=_TEMPLATES, epochs=2, l2=1)


def student(kind: Kind) -> None:
    """Learns from a teacher's probabilities on raw text."""
    plain = Recognizer(features=_TEMPLATES, epochs=2, l2=1, structure="separators").fit(kind.data, dev=kind.data[:40])
    made = kind.make()
    own = {"encoder": made.encoder} if getattr(made, "encoder", None) else {"features": _TEMPLATES, "epochs": 2}
    found = teach(plain, kind.bare * 5, train=kind.data[:60], dev=kind.data[:20], **own)
    _check(isinstance(found, type(made)), "a student is a recognizer")


def on_disk(kind: Kind) -> None:
    """Trains on text that does not fit in memory."""
    with TemporaryDirectory() as work:
        seen: list[Path] = []
        look = lambda _: seen.extend(Path(work).rglob("documents.jsonl"))  # noqa: E731
        kind.fit(iter(kind.data), given={"work": Path(work) / "own", "progress": look})
    _check(seen, "text is in memory")


def resume(kind: Kind) -> None:
    """Resumes a training that was killed."""
    with TemporaryDirectory() as work:
        own = str(Path(work) / "own")
        if getattr(kind.make(), "encoder", None):
            kind.fit(checkpoint=own)
        else:
            kind.fit(iter(kind.data), given={"work": own})


def executor(kind: Kind) -> None:
    """Trains on several machines."""
    with TemporaryDirectory() as work:
        run = threads(2)
        kind.fit(iter(kind.data), optimizer="lbfgs", iterations=3, given={"work": Path(work) / "own", "executor": run})


def attributes(kind: Kind) -> None:
    """Learns attributes of mentions."""
    found = kind.fit(attributes="auto").predict(kind.bare)
    _check(any(one.attributes for one in _mentions(found)), "no attributes")


def concepts(kind: Kind) -> None:
    """Links mentions to a vocabulary."""
    links = "concepts" in kind.model.annotates
    model = kind.model if links else kind.fit(link=[str(kind.folder / "vocabulary.tsv")])
    _check(any(one.concepts for one in _mentions(model.predict(kind.bare))), "no concepts")


def constraints(kind: Kind) -> None:
    """Keeps mentions, and finds the best others."""
    one = kind.data[0]
    [mention, *_] = one.mentions
    asked = f"{mention.type}: {mention.text(one.text)}"
    [found] = kind.model.stream([Document(one.text)], constraints={"forbid": [asked]})
    _check(mention.key not in {own.key for own in found.mentions}, "a mention that is forbidden")


def rely(kind: Kind) -> None:
    """Labels candidates at promised rates."""
    fitted = Reliance.fit(kind.model, kind.data, 0.9)
    _check(all("rely" in one.attributes for one in _mentions(fitted.stream(kind.model, kind.bare))), "no labels")


def explain(kind: Kind) -> None:
    """Explains why a mention is found."""
    _check(any(kind.model.explain(one) for one in kind.bare), "no explanation")


def clean(kind: Kind) -> None:
    """Finds suspects in annotated text by models of this kind."""
    _check(isinstance(kind.make(), Recognizer), "recognizers are trained, whatever is given")
    params = kind.make().get_params()
    find_suspects(kind.data[:60], folds=2, **params)


def label(kind: Kind) -> None:
    """Learns from text that rules have labelled."""
    rules = kind.folder / "rules.toml"
    pattern = "|".join(("nausea", "vomiting", *_CHINESE))
    own = kind.data[0].mentions[0].type
    rules.write_text(f'[[rule]]\nkind = "pattern"\ntype = "{own}"\npattern = ["{pattern}"]\n', encoding="utf-8")
    kind.fit(list(label_documents(kind.data, rules)))


def compact(kind: Kind) -> None:
    """Takes weights of eight bits."""
    made = make_compact(kind.model, dev=kind.data[:30])
    _check(len(made.predict(kind.bare)) == len(kind.bare), "no documents")


def serve(kind: Kind) -> None:
    """Answers requests."""
    own = served("own", load(kind.saved), str(kind.saved))
    own.warm_up()
    _check(len(list(own.stream(kind.bare))) == len(kind.bare), "no documents")


def lake(kind: Kind) -> None:
    """Annotates folders of tables."""
    import pyarrow as pa  # of an extra, as the next

    from spanloom.lake import Annotator

    batch = pa.record_batch({"text": [one.text for one in kind.bare]})
    [found] = Annotator(str(kind.saved), id=None)([batch])
    _check(found["problem"].null_count == len(kind.bare), "problems")


def thread_count(kind: Kind) -> None:
    """Trains in several threads."""
    kind.fit(n_jobs=2)


def _with_template(kind: Kind, template: str) -> dict[str, Any]:
    features = kind.make().get_params()["features"]
    return {} if isinstance(features, str) else {"features": [*features, template]}


def vectors(kind: Kind) -> None:
    """Reads word vectors."""
    path = kind.folder / "vectors.txt"
    words = dict.fromkeys(word for one in kind.data for word in one.text.split())
    path.write_text("".join(f"{word} {n % 3} {n % 5}\n" for n, word in enumerate(words)), encoding="utf-8")
    kind.fit(vectors=str(path), **_with_template(kind, "vector[0]"))


def clusters(kind: Kind) -> None:
    """Induces word clusters."""
    kind.fit(clusters=4, **_with_template(kind, "cluster:2[0]"))


def vocabulary(kind: Kind) -> None:
    """Reads names of a vocabulary as a column."""
    path = kind.folder / "categories.tsv"
    rows = (f"D{n}\t{name}\tillness\n" for n, name in enumerate((*_DISEASES, *_CHINESE)))
    path.write_text("id\tname\tcategory\n" + "".join(rows), encoding="utf-8")
    if "vocabulary" in kind.fitting:  # which a linker has anyway
        made = kind.make(**_with_template(kind, "category[0]"))
        made.fit(kind.data, dev=kind.data[:30], vocabulary=str(path))
    else:
        own = {"features": "set3"} if "method" in kind.make().get_params() else _with_template(kind, "category[0]")
        kind.fit(vocabulary=str(path), **own)


ROWS: Final[tuple[Callable[[Kind], None], ...]] = (
    probabilities, alternatives, arrays, sweep, explain, rely, constraints, given_mentions, second_stage, two_passes,
    split_tokens, partial_annotation, claims, annotators, label, clean, teacher, student, on_disk, resume, executor,
    thread_count, attributes, concepts, vectors, clusters, vocabulary, compact, serve, lake,
)  # fmt: skip


REASONS: Final[Mapping[str, str]] = {
    "second_stage": "A cascade tunes its chains together; train a recognizer, whose second stage ranks all types.",
    "two_passes": "A joint linker sees the document's earlier links in its own features (`history`).",
    "split_tokens": "A segmenter finds the tokens itself.",
    "clean": "Suspects are found by recognizers, whatever model is trained in the end.",
    "student": "A student is a recognizer on features: it has its teacher's structure, and is faster.",
    "executor": "Steps of a linker's perceptron follow each other; take `n_jobs`, or a recognizer with `link`.",
    "vocabulary": "An encoder alone has no features, and reads text instead of columns; `with_features` adds both.",
}
"""What the page shows for a method or an argument that the class does not have."""
_FEATURELESS: Final = "An encoder alone has no features, and reads text instead of columns; `with_features` adds both."
_PLAIN: Final = ("encoder", "segmenter, encoder")
_UNLIKE: Final = ("cascade", "segmenter", "segmenter, encoder", "joint linker")
MEANINGLESS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "two_passes": ((*_PLAIN, "joint linker"), "No column is read in which a first pass writes: an encoder reads text "
                   "alone, a joint linker sees the document's earlier links itself (`history`)."),
    "split_tokens": (("segmenter", "segmenter, encoder"), "A segmenter finds the tokens itself."),
    "label": (("recognizer with link", "joint linker"), "Rules give no concepts, from which links are learned."),
    "clean": (_UNLIKE, "Suspects are in data; recognizers find them, whatever model is trained in the end."),
    "student": (("encoder", "encoder and features", *_UNLIKE), "A student is a recognizer on features by definition."),
    "vectors": (_PLAIN, _FEATURELESS),
    "clusters": (_PLAIN, _FEATURELESS),
    "vocabulary": (("segmenter, encoder",), _FEATURELESS),
    "second_stage": (("joint linker",), "A joint linker scores whole mentions in its one search (`segments`)."),
    "compact": ((*_PLAIN, "encoder and features"), "Weights of features are packed; `precision` is that of encoders."),
}  # fmt: skip
"""Capability -> kinds that it does not apply to, and why."""
NOT_OF_TAGGERS: Final = frozenset((
    "probabilities", "alternatives", "arrays", "sweep", "explain", "rely", "constraints", "given_mentions",
    "second_stage", "split_tokens", "claims", "label", "clean", "teacher", "student", "attributes", "concepts", "lake",
    "serve", "two_passes", "partial_annotation", "annotators",
))  # fmt: skip
"""Capabilities that are about mentions, which taggers do not find."""
_NOT_ABOUT: Final = "–"
_ABSENT: Final = re.compile(r"unexpected keyword argument|has no attribute")


def tried(kind: Kind, row: Callable[[Kind], None]) -> str:
    """Return what is wrong with a combination; empty if it works."""
    if kind.name == "tagger" and row.__name__ in NOT_OF_TAGGERS:
        return _NOT_ABOUT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            row(kind)
        except SpanloomError as error:
            return str(error).replace(str(kind.folder), "FOLDER").split("\n")[0]
        except NotDoneError:
            return REASONS[row.__name__]
        except (AttributeError, TypeError) as error:
            if not _ABSENT.search(str(error)):
                raise
            return REASONS[row.__name__]
    return ""


def page(found: Mapping[str, Mapping[str, str]], text: str) -> str:
    """Return the page with the table of what was found: kind -> capability -> what is wrong."""
    notes: dict[str, int] = {}
    lines = [f"| | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    counts = Counter[str]()
    for row in ROWS:
        cells = []
        apart, why = MEANINGLESS.get(row.__name__, ((), ""))
        for name, column in found.items():
            said = column[row.__name__]
            word = "no"
            if not said or said == _NOT_ABOUT or name in apart:
                word = _NOT_ABOUT if said else "yes"
            counts[word] += 1
            reason = "" if said in ("", _NOT_ABOUT) else why if name in apart else said
            cells.append(f"{word} [{notes.setdefault(reason, len(notes) + 1)}]" if reason else word)
        name = (row.__doc__ or "").rstrip(".")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    counted = (
        f"{counts['yes']} combinations work, {counts['no']} do not, and {counts[_NOT_ABOUT]} do not apply (a dash), "
        "for these reasons:"
    )
    reasons = [f"{number}. {said}" for said, number in notes.items()]
    made = "\n".join([*lines, "", counted, "", *reasons])
    before, rest = text.split(_TABLE[0])
    return f"{before}{_TABLE[0]}\n{made}\n\n{_TABLE[1]}{rest.split(_TABLE[1])[1]}"


def main() -> None:
    """Try all, and write the page and its record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="kinds to try")
    parser.add_argument("--rows", nargs="*", help="capabilities to try")
    chosen = parser.parse_args()
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    with TemporaryDirectory() as folder:
        every = kinds(Path(folder))
        for kind in every:
            if not chosen.only or kind.name in chosen.only:
                rows = [row for row in ROWS if not chosen.rows or row.__name__ in chosen.rows]
                known[kind.name] = {**known.get(kind.name, {}), **{row.__name__: tried(kind, row) for row in rows}}
                print(kind.name, sum(not said for said in known[kind.name].values()), "of", len(ROWS), flush=True)
                found = {one.name: known[one.name] for one in every if one.name in known}
                RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                PAGE.write_text(page(found, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
