"""Does the program still do the same, to the byte? Models, predictions, scores and explanations of every kind of model.

    python benchmarks/same.py --out before.json
    python benchmarks/same.py --out after.json --before before.json

Every kind of model is trained on the corpora that come with Spanloom, with few passes, and used: recognizers of all
structures with both countings, cascades, taggers, segmenters of all methods, linkers, language models and
vocabularies; and what a recognizer can do beside that, such as two passes, partial annotation, teaching, work folders,
and an encoder with random weights, which needs PyTorch. What they write and print is compared by digests. With
``--before`` those that differ are named, and the exit code is 1. Where the format of model files is another one,
``files`` are not compared; ``arrays`` are, the digests of what the files hold, whatever it is called there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from safetensors.numpy import load_file

from common import ROOT, say, timed
from spanloom import Document, Linker, Recognizer, Segmenter, load, read, write
from spanloom.data import chinese_clinical, clinical
from spanloom.structures import STRUCTURES
from spanloom_lab import Cascade

TEMPLATES = ("bias", "w[-1..1]", "low[0]|low[1]", "suffix(1..3)", "orth[0]", "shape[-1..1]")
COLUMN = "kind"  # what taggers learn: the corpora have no parts of speech
EXPLAINED = 3  # documents; explanations are slow
Found = dict[str, Any]


def first_of(*names: str) -> Any:
    """What stands under the first of these names that there is: private classes move."""
    for name in names:
        try:
            return resolve_name(name)
        except (ImportError, AttributeError):
            continue
    raise SystemExit(f"none of {', '.join(names)} is there")


def digest(*parts: bytes | str) -> str:
    """Of all parts, one after the other."""
    found = blake2b(digest_size=12)
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()


def as_json(value: object) -> str:
    """Floats to the last digit; dataclasses and tuples by their ``repr``."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)


def written(documents: Iterable[Document], folder: Path) -> str:
    """The digest of documents in the native format, with scores and all."""
    path = folder / "documents.jsonl"
    write(documents, path, force=True)
    return digest(path.read_bytes())


def stored(model: Any, folder: Path) -> Found:
    """The digests of a saved model's files, and of the arrays in them."""
    model.save(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    arrays = sorted(
        digest(str(array.dtype), str(array.shape), array.tobytes())
        for path in files
        if path.suffix == ".safetensors"
        for array in load_file(path).values()
    )
    return {
        "format": json.loads((folder / "model.json").read_text(encoding="utf-8"))["format"],
        "files": {str(path.relative_to(folder)): digest(path.read_bytes()) for path in files},
        "arrays": digest(*arrays),
    }


def mentions_of(model: Any, parts: Parts, folder: Path, **options: Any) -> Found:
    """All that a model of mentions says: before it was saved and after."""
    found = stored(model, folder / "model")
    again = load(folder / "model")
    found["predictions"] = written(model.predict(parts["test"], **options), folder)
    found["predictions, loaded"] = written(again.predict(parts["test"], **options), folder)
    if hasattr(model, "marginals"):
        found["marginals"] = digest(as_json(model.marginals(parts["test"])))
        found["marginals, raw"] = digest(as_json(model.marginals(parts["test"], calibrated=False)))
        found["answers"] = written(model.predict(parts["dev"], answers=True), folder)
    if hasattr(model, "log_likelihood"):
        found["log-likelihood"] = digest(model.log_likelihood(parts["dev"]).tobytes())
    explanations = [each.record() for document in parts["test"][:EXPLAINED] for each in again.explain(document)]
    found["explanations"] = digest(as_json(explanations))
    found["report"] = digest(as_json(model.report_))
    return found


Parts = dict[str, list[Document]]
Job = Callable[[Path], Found]


def recognizers(notes: Parts, tagged: Parts, tagger: Callable[[], Any]) -> Iterator[tuple[str, Job]]:
    """Each structure with each counting, and each of the other parameters once."""

    def job(parts: Parts, **params: Any) -> Job:
        given = {"features": TEMPLATES, "epochs": 2, "l2": 1, "headless": "whole", "rescore": False, "overlap": "free"}
        settings: dict[str, Any] = given | params
        return lambda folder: mentions_of(Recognizer(**settings).fit(parts["train"], dev=parts["dev"]), parts, folder)

    for structure in STRUCTURES:
        for counting in ("subgraphs", "derivations"):
            yield f"recognizer {structure} {counting}", job(notes, structure=structure, counting=counting)
        yield f"recognizer {structure} all", job(notes, structure=structure, reading="all", tune_penalty=False)
    for structure in ("separators", "shared", "heads"):
        yield f"recognizer {structure} rescored", job(notes, structure=structure, rescore=True, overlap="learned")
    yield "recognizer lbfgs", job(notes, optimizer="lbfgs", iterations=8, l2=(0.1, 1))
    yield "recognizer runs", job(notes, runs=2, min_count=2, names=True, n_jobs=2)
    yield "recognizer presets", job(notes, features="biomedical", clusters=8)
    yield (
        "recognizer clinical",
        job(notes, features="clinical", structure="shared", components=2, vocabulary="vocabulary.tsv"),
    )
    yield "recognizer longest", job(notes, structure="semi_markov", longest=4)
    yield "recognizer auto tagger", job(tagged, features=(*TEMPLATES, "pos[-1..1]"))
    yield "recognizer tagger", lambda folder: job(notes, features=(*TEMPLATES, f"{COLUMN}[0]"), pos=tagger())(folder)
    yield (
        "recognizer held out",
        lambda folder: mentions_of(
            Recognizer(features=TEMPLATES, epochs=2, random_state=3, rescore=False, overlap="free").fit(notes["train"]),
            notes,
            folder,
        ),
    )


def beyond(notes: Parts) -> Iterator[tuple[str, Job]]:
    """What a recognizer can do beside learning from complete documents in memory."""
    settings: dict[str, Any] = {"features": TEMPLATES, "epochs": 2, "l2": 1, "rescore": False}
    train, dev = notes["train"], notes["dev"]

    def job(documents: Any = train, **params: Any) -> Job:
        return lambda folder: mentions_of(Recognizer(**settings | params).fit(documents, dev=dev), notes, folder)

    for overlap in ("learned", "nested", "none"):
        yield f"recognizer overlap {overlap}", job(structure="shared", overlap=overlap)
    yield "recognizer two passes", job(passes="two")
    yield "recognizer every candidate rescored", job(rescore=True, rescore_all=True)
    yield "recognizer hash bits", job(hash_bits=10)
    thinned = [one.copy(mentions=one.mentions[::3]) for one in train]
    yield "recognizer at least", job(thinned, annotation="at-least", density=400)
    named = [
        one.copy(
            mentions=one.mentions[1:],
            meta={
                **one.meta,
                "annotation": {"default": "at-least", "some": [{"spans": [list(span) for span in claim.spans]}]},
            },
        )
        for one in train
        for claim in one.mentions[:1]
    ]
    yield "recognizer claims", job([*train[:8], *named[8:]], density=400)
    crowd = [
        one.copy(mentions=[m for n, m in enumerate(one.mentions) if (n + k) % 4], meta={"annotator": name})
        for k, name in enumerate(("ada", "eve", "ivo"))
        for one in train
    ]
    yield "recognizer annotators", job(crowd)

    def worked(folder: Path) -> Found:
        model = Recognizer(**settings).fit(iter(train), dev=dev, work=folder / "work")
        return mentions_of(model, notes, folder)

    def compacted(folder: Path) -> Found:
        model = Recognizer(**settings | {"rescore": True}).fit(train, dev=dev)
        return mentions_of(resolve_name("spanloom.recognize:compact")(model, dev=dev), notes, folder)

    def taught(folder: Path) -> Found:
        teacher = Recognizer(**settings).fit(train, dev=dev)
        raw = [Document(one.text) for one in notes["test"]]
        student = resolve_name("spanloom.recognize:teach")(teacher, raw, train=train, dev=dev, **settings)
        return mentions_of(student, notes, folder)

    def vectors(folder: Path) -> Found:
        words = sorted({word.lower() for one in train for word in one.text.split() if word.isalpha()})
        rows = (" ".join([word, *(f"{(hash_of(word) >> shift) % 7 - 3}" for shift in (3, 9, 17))]) for word in words)
        (folder / "vectors.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
        given = settings | {"features": (*TEMPLATES, "vector[-1..1]"), "vectors": str(folder / "vectors.txt")}
        return mentions_of(Recognizer(**given).fit(train, dev=dev), notes, folder)

    def arrays(folder: Path) -> Found:
        found = Recognizer(**settings).fit(train, dev=dev).stream_arrays(notes["test"])
        return {"arrays": digest(*(part.tobytes() for one in found for part in one if hasattr(part, "tobytes")))}

    def encoded(folder: Path) -> Found:
        sys.path.insert(0, str(ROOT / "tests" / "encoder"))
        encoder = resolve_name("conftest:write_encoder")(folder / "encoder")
        model = Recognizer(encoder=str(encoder), encoder_epochs=1, device="cpu", precision="float32")
        return mentions_of(model.fit(train[:40], dev=dev[:10]), notes, folder)

    def cleaned(folder: Path) -> Found:
        found = resolve_name("spanloom.clean:find_suspects")(train[:60])
        return {"suspects": digest(as_json([repr(one) for one in found]))}

    def labelled(folder: Path) -> Found:
        rules = folder / "rules.toml"
        rules.write_text(
            '[[rule]]\nkind = "phrases"\ntype = "problem"\nphrases = ["chest pain", "dyspnea", "fever"]\n',
            encoding="utf-8",
        )
        found = resolve_name("spanloom.label:label")([Document(one.text) for one in notes["test"]], rules)
        return {"labelled": written(found, folder)}

    yield "recognizer work folder", worked
    yield "recognizer compact", compacted
    yield "recognizer taught", taught
    yield "recognizer vectors", vectors
    yield "recognizer arrays", arrays
    yield "recognizer encoder", encoded
    yield "clean", cleaned
    yield "label", labelled


def hash_of(word: str) -> int:
    """A number of a word, the same everywhere."""
    return int(digest(word)[:12], 16)


def cascades(notes: Parts) -> Iterator[tuple[str, Job]]:
    """Both orders."""
    for order in ("frequency", "search"):
        settings: dict[str, Any] = {"order": order, "features": TEMPLATES, "epochs": 2, "l2": 1}
        yield (
            f"cascade {order}",
            lambda folder, settings=settings: mentions_of(
                Cascade(**settings).fit(notes["train"], dev=notes["dev"]), notes, folder
            ),
        )
    chain = first_of("spanloom_lab.head_chain:HeadChain", "spanloom.recognize.head_chain:HeadChain")

    def heads(folder: Path) -> Found:
        model = chain(TEMPLATES, epochs=2, l2=1, headless="whole").fit(notes["train"], dev=notes["dev"])
        return {"predictions": written(model.predict(notes["test"]), folder)}

    yield "head chain", heads


def taggers(tagged: Parts, tagger: Callable[[], Any]) -> Iterator[tuple[str, Job]]:
    """A column that is learned."""

    def job(folder: Path) -> Found:
        model = tagger()
        found = stored(model, folder / "model")
        found["predictions"] = written(model.predict(tagged["test"]), folder)
        found["predictions, loaded"] = written(load(folder / "model").predict(tagged["test"]), folder)
        found["report"] = digest(as_json(model.report_))
        return found

    yield "tagger", job


def segmenters(sections: Parts) -> Iterator[tuple[str, Job]]:
    """Each method with a set of its own, and each of the other parameters once."""

    def job(**params: Any) -> Job:
        settings: dict[str, Any] = {"features": "set1", "epochs": 2, "l2": 0.1} | params
        return lambda folder: mentions_of(
            Segmenter(**settings).fit(sections["train"], dev=sections["dev"]), sections, folder
        )

    for method in ("exact", "dual", "independent", "incremental", "joint_labels"):
        yield f"segmenter {method}", job(method=method)
    yield "segmenter constraints", job(features="set2", single_word=("medication",), names=True, n_jobs=2)
    yield "segmenter dictionary", job(features="set3", dictionaries={"problem": ["胸痛", "胸闷"]}, l2=(0.02, 0.5))
    yield "segmenter lbfgs", job(optimizer="lbfgs", iterations=6)


def linkers(notes: Parts) -> Iterator[tuple[str, Job]]:
    """Each task, the paper's parameters, and a language model."""
    names = clinical() / "vocabulary.tsv"
    model = first_of("spanloom_lab.lm.language_model:LanguageModel", "spanloom.link.language_model:LanguageModel")

    def job(lm: bool = False, given: bool = False, **params: Any) -> Job:
        settings: dict[str, Any] = {"features": TEMPLATES, "iterations": 2} | params

        def run(folder: Path) -> Found:
            more = {"language_model": model.train(notes["train"])} if lm else {}
            linker = Linker(**settings, **more).fit(notes["train"], dev=notes["dev"], vocabulary=names)
            return mentions_of(linker, notes, folder)

        return run

    yield "linker joint", job(runs=2)
    yield "linker recognize", job(task="recognize")
    yield "linker normalize", job(task="normalize", types=["problem"])
    yield "linker language model", job(lm=True, clusters=8)
    yield "linker paper", job(
        candidates=5, method="edit", state_features=True, nonlocal_features=True, segments=False, history=False,
        evidence=False, dictionary=False, language_words=False, gold_candidates=True, own_memory=True, margin=0.0,
        tune_bias=False, word_rate=1.0,
    )  # fmt: skip

    def language(folder: Path) -> Found:
        found = model.train(notes["train"])
        scores = {"scores": digest(found.log_probabilities(notes["test"]).tobytes())}
        return stored(found, folder / "model") | scores

    def vocabulary(folder: Path) -> Found:
        readers = ("spanloom.vocabulary:read_vocabulary", "spanloom.vocabulary.read:read_vocabulary")
        return stored(first_of(*readers)(names), folder / "model")

    yield "language model", language
    yield "vocabulary", vocabulary


def corpora() -> tuple[Parts, Parts, Parts]:
    """Notes, sections of Chinese summaries, and notes whose tokens have a column to learn."""

    def kinds(document: Document, column: str) -> Document:
        values = ["digit" if word[:1].isdigit() else word[-1:].lower() for word in document.words]
        return replace(document, columns={column: values})

    prepare = first_of("spanloom.text:prepare")
    notes = {part: list(read(clinical() / part)) for part in ("train", "dev", "test")}
    sections = {part: list(read(chinese_clinical() / f"{part}.jsonl")) for part in ("train", "dev", "test")}
    tagged = {part: [kinds(prepare(each), "pos") for each in found] for part, found in notes.items()}
    return notes, sections, tagged


def jobs() -> Iterator[tuple[str, Job]]:
    """All that is compared."""
    notes, sections, tagged = corpora()
    pos_tagger = first_of("spanloom.tag.pos_tagger:PosTagger", "spanloom.recognize.pos_tagger:PosTagger")
    learned = {part: [replace(each, columns={COLUMN: each.columns["pos"]}) for each in tagged[part]] for part in tagged}

    def tagger() -> Any:
        return pos_tagger(column=COLUMN, epochs=2).fit(learned["train"], dev=learned["dev"])

    yield from recognizers(notes, tagged, tagger)
    yield from beyond(notes)
    yield from cascades(notes)
    yield from taggers(learned, tagger)
    yield from segmenters(sections)
    yield from linkers(notes)


def differences(before: dict[str, Found], after: dict[str, Found]) -> list[str]:
    """One line for each digest that is not what it was, or is on one side only."""
    wrong = []
    for name, found in after.items():
        old = before.get(name, {})
        skipped = {"format", "files"} if found.get("format") != old.get("format") else set()
        for key in sorted({*found, *old} - skipped):
            if found.get(key) != old.get(key):
                wrong.append(f"{name}: {key} {'differs' if key in found and key in old else 'is new or gone'}")
    return wrong


def options(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="digests as JSON")
    parser.add_argument("--before", type=Path, help="digests to compare with")
    parser.add_argument("--only", nargs="*", default=[""], help="those whose names begin so")
    return parser.parse_args(given)


def main() -> None:
    chosen = options()
    chosen.out, chosen.before = (path and path.absolute() for path in (chosen.out, chosen.before))
    warnings.simplefilter("ignore")
    os.chdir(clinical())  # models keep the names of files that they were given
    found: dict[str, Found] = {}
    for name, job in jobs():
        if name.startswith(tuple(chosen.only)):
            with tempfile.TemporaryDirectory() as folder:
                seconds, found[name] = timed(lambda job=job, folder=folder: job(Path(folder)))
            say(f"{name}: {seconds.cpu:.1f} s")
    if chosen.out:
        chosen.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if chosen.before:
        before = json.loads(chosen.before.read_text(encoding="utf-8"))
        wrong = differences(before, found)
        print("\n".join(wrong) or f"the same: {len(found)} models")
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
