"""Figures 1 and 2 of Lou et al. (2017): concepts on BC5CDR development data by beam size and by number of candidates.

    python benchmarks/linking_curves.py --data DATA --cache CACHE

Each point of Figure 1 is a pass of training with one beam size, each point of Figure 2 the best pass with one K. All
models are trained on the training data; F1 is that of the concepts of documents. A picture is written beside the table.
With ``--paper`` the model is the paper's joint one, with its 36 passes, for fewer beam sizes and K than the paper has,
as each takes minutes; without, it is our default with 6 passes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from common import Result, options, say
from kept import Store
from linking import PAPER, PASSES, Corpus, Setting, tagger, tell
from spanloom.link import Linker
from spanloom.vocabulary import read_vocabulary

BEAMS, CANDIDATES = (1, 2, 4, 8, 16, 32), (1, 3, 5, 10, 13)
PAPER_BEAMS, PAPER_CANDIDATES = (1, 4, 16), (1, 5, 10)
STANDARD = {"beam": 16, "candidates": 10}


def history(
    setting: Setting, data: Corpus, folder: Path, base: dict[str, Any], **changed: int
) -> list[tuple[int, float, float]]:
    """Updates, F1 of mentions and F1 of concepts after each pass; trained once."""
    params: dict[str, Any] = {**STANDARD, **changed, "iterations": setting.iterations, "patience": setting.iterations}
    place = folder / ("-".join(["paper-" * bool(base), *(f"{n}{value}" for n, value in params.items())]) + ".json")
    if not place.exists():
        say(place.stem)
        linker = Linker(**{**base, **params}, pos=None, n_jobs=-1, random_state=setting.seed)
        linker.fit(data.train, dev=data.dev, vocabulary=setting.vocabulary, progress=tell)
        place.write_text(json.dumps(linker.report_.history), encoding="utf-8")
    found: list[tuple[int, float, float]] = json.loads(place.read_text(encoding="utf-8"))
    return found


def picture(beams: dict[int, Sequence[float]], candidates: dict[int, float], out: Path) -> None:
    """Both figures, side by side, as SVG."""
    plt.rcParams["svg.hashsalt"] = "spanloom"
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for beam, values in beams.items():
        left.plot(range(1, len(values) + 1), values, marker=".", label=f"beam {beam}")
    left.set(xlabel="pass over the training data", ylabel="F1 of documents' concepts, %", title="Beam size (Figure 1)")
    left.legend()
    right.plot(list(candidates), list(candidates.values()), marker="o")
    right.set(xlabel="candidates, K", title="Number of candidates (Figure 2)")
    figure.savefig(out, metadata={"Date": None})


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", type=Path, required=True, help="that of linking.py; goes on where it was")
    parser.add_argument("--iterations", type=int, help="passes of each training [6; 36 with --paper]")
    parser.add_argument("--paper", action="store_true", help="the paper's model; its results get a name of their own")


def main() -> None:
    """Train what is missing, write."""
    chosen = options("linking_curves", __doc__, _more)
    folder = chosen.cache / "curves"
    folder.mkdir(parents=True, exist_ok=True)
    tags = tagger(chosen.data, chosen.cache, chosen.seed)
    medic = read_vocabulary(chosen.data / "bc5cdr" / "CTD_diseases.xml")
    passes_of = chosen.iterations or (PASSES if chosen.paper else 6)
    setting = Setting(chosen.data, Store(chosen.cache), medic, tags, chosen.seed, passes_of)
    base, sizes, numbers = (PAPER, PAPER_BEAMS, PAPER_CANDIDATES) if chosen.paper else ({}, BEAMS, CANDIDATES)
    out = chosen.out.with_stem(chosen.out.stem + "_paper" * chosen.paper)
    data = setting.read("bc5cdr")
    beams = {beam: [100 * row[2] for row in history(setting, data, folder, base, beam=beam)] for beam in sizes}
    best = {k: max(100 * row[2] for row in history(setting, data, folder, base, candidates=k)) for k in numbers}
    result = Result("Beam size and number of candidates" + ", the paper's model" * chosen.paper, chosen.seed)
    passes = range(1, passes_of + 1)
    result.table(
        "F1 of concepts by pass and beam size (Figure 1)", ("beam", *(f"pass {number}" for number in passes)),
        [[beam, *(f"{value:.1f}" for value in values)] for beam, values in beams.items()],
    )  # fmt: skip
    result.table("F1 of concepts, best pass, by K (Figure 2)", ("K", "F1"), [[k, f"{v:.1f}"] for k, v in best.items()])
    picture(beams, best, out.with_suffix(".svg"))
    result.data = {"beams": beams, "candidates": best}
    result.save(out)


if __name__ == "__main__":
    main()
