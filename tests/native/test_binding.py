"""What the binding of the kernels refuses, and that the header says of each kernel what C and Python need."""

from __future__ import annotations

import importlib
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spanloom
from spanloom import native
from spanloom.errors import SpanloomError, UsageError
from spanloom.hashing import Slots
from spanloom.native import Kernel, library

PACKAGE = Path(spanloom.__file__).parent
LAB = Path(__file__).parents[2] / "lab" / "src" / "spanloom_lab"
HEADER = (PACKAGE / "native" / "spanloom.h").read_text(encoding="utf-8")
NAMES = re.findall(r"^KERNEL\((\w+),", HEADER, re.M)
KEYS = np.array([5, 6], np.uint64)
# structure in C -> the tuple in Python whose fields it has
TUPLES = {
    "CharacterTable": "features.tokens:CharacterTable",
    "FeatureProgram": "features.program:FeatureProgram",
    "Columns": "features.tables:Columns",
    "ConjunctionProgram": "features.conjunctions:ConjunctionProgram",
    "SharedProgram": "features.shared:SharedProgram",
    "Bigrams": "features.clusters:Bigrams",
    "Window": "features.clusters:Window",
    "Candidates": "rescoring.candidates:CandidateMentions",
    "Mentions": "structures:MentionTable",
    "Words": "rescoring.candidates:Words",
    "Level": "spanloom_lab.lm.ngrams:Level",
    "WeightTable": "link.arrays:WeightTable",
    "Forms": "link.arrays:Forms",
    "LinkData": "link.arrays:Data",
    "BeamModel": "link.arrays:BeamModel",
    "SharedScores": "link.arrays:SharedScores",
    "Workspace": "link.arrays:Workspace",
    "StrandRuns": "structures.strands.graph:StrandRuns",
    "Hyperedges": "hypergraph.tables:Hyperedges",
    "Automaton": "hypergraph.tables:Automaton",
    "Potentials": "hypergraph.engine:Masked",
    "Graph": "hypergraph.tables:Graph",
    "Paths": "hypergraph.tables:Paths",
    "Guards": "hypergraph.guards:Guards",
}


def find(wanted: object = KEYS, numbers: object = None) -> int:
    found = np.empty(2, np.int64) if numbers is None else numbers
    return Kernel("find_numbers")(wanted, *Slots.numbering(KEYS), KEYS, found)


def test_every_kernel_is_in_the_library() -> None:
    assert len(NAMES) > 60
    for name in NAMES:
        assert getattr(library(), f"spanloom_{name}")
        assert native._declared()[f"spanloom_{name}"]


def test_every_kernel_is_called_and_declared() -> None:
    code = "".join(path.read_text(encoding="utf-8") for place in (PACKAGE, LAB) for path in place.rglob("*.py"))
    quoted = set(re.findall(r'"(\w+)"', code))
    only_tested = {"link_change", "link_role", "link_search", "take_exponentials", "take_logarithms"}
    assert set(NAMES) - quoted == only_tested
    assert set(re.findall(r'Kernel\("(\w+)"\)', code)) <= set(NAMES)


@pytest.mark.parametrize("name", re.findall(r"^\} (\w+);", HEADER, re.M))
def test_tuples_have_the_fields_of_structures(name: str) -> None:
    module, _, label = TUPLES[name].partition(":")
    fields = getattr(
        importlib.import_module(module if module.startswith("spanloom_lab") else f"spanloom.{module}"), label
    )._fields
    assert [field.name for field in native._declared()[name]] == list(fields)


def test_results_come_in_what_is_given() -> None:
    numbers = np.empty(2, np.int64)
    assert find(KEYS[::-1], numbers) == 0  # what is read may have any layout
    assert numbers.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("wanted", "numbers", "message"),
    [
        (KEYS.astype(np.int64), None, "sought is an array of int64"),
        (KEYS[:, None], None, "of shape \\(2, 1\\), expected uint64 with 1 axes"),
        (KEYS[:1], None, "numbers is of shape \\(2,\\), expected N with N = 1"),
        (KEYS, np.empty(4, np.int64)[::2], "written to, and is read-only or not in C order"),
    ],
)
def test_other_arguments_are_refused(wanted: np.ndarray, numbers: np.ndarray | None, message: str) -> None:
    with pytest.raises(UsageError, match=f"^find_numbers: .*{message}"):
        find(wanted, numbers)


def test_what_is_read_only_is_not_written_to() -> None:
    numbers = np.empty(2, np.int64)
    numbers.flags.writeable = False
    with pytest.raises(UsageError, match="read-only"):
        find(KEYS, numbers)


def test_read_only_arrays_are_read() -> None:
    keys = KEYS.copy()
    keys.flags.writeable = False
    assert find(keys) == 0


def test_other_numbers_of_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="1 arguments, expected 5"):
        Kernel("find_numbers")(KEYS)


def test_an_index_out_of_a_table_is_an_error() -> None:
    rows, offsets = np.array([9], np.int32), np.array([0, 1])
    with pytest.raises(SpanloomError, match="an index leads out of its table"):
        Kernel("transpose")(rows, offsets, np.zeros(2, np.int64), np.zeros(1, np.int32))


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native, "_FOLDER", tmp_path)
    library.cache_clear()
    try:
        with pytest.raises(SpanloomError, match=r"compiled kernels are missing .* hatch_build\.py"):
            library()
    finally:
        library.cache_clear()


def test_offsets_have_one_element_at_least() -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(UsageError, match=r"transpose: offsets is of shape \(0,\), expected \*\+1"):
        Kernel("transpose")(np.zeros(0, np.int32), none, none, np.zeros(0, np.int32))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_memory_is_kept_for_the_next_arrays() -> None:
    code = """
import resource, numpy as np
from spanloom.native import keep_memory
keep_memory()
faults = []
for _ in range(9):
    np.ones(1 << 20)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
assert faults[-1] - faults[0] < 64, faults
"""
    subprocess.run([sys.executable, "-c", code], check=True)
