"""The house rules that a reader of one file cannot see: who imports whom, how long a module is, how C is written."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from types import FrameType

import pytest

import spanloom
from spanloom.document import Document, Mention
from spanloom.link import Linker
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.structures import STRUCTURES

ROOT = Path(__file__).parents[1]
PACKAGE = Path(spanloom.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
LONGEST = 600

# Each folder imports only from folders above it in this list.
ORDER = (
    "document",
    "hypergraph",
    "text",
    "formats",
    "evaluate",
    "structures",
    "vocabulary",
    "features",
    "label",
    "scoring",
    "learn",
    "concepts",
    "model",
    "passes",
    "rescoring",
    "attributes",
    "tag",
    "recognize",
    "link",
    "segment",
    "models",
    "view",
    "clean",
    "lake",
    "serve",
    "annotate",
    "integrations",
    "cli",
)
FREE = {"errors", "extras", "data", "hashing", "lazy", "native", "parallel", "sparse", "structure_names"}
KERNELS = {"hashing", "native", "sparse"}  # what calls them beside the folders
STORED = {"errors", "files", "modelfile"}  # whatever writes may import them
NARROW = {"view": {"document", "hypergraph", "evaluate"}}
# Where names stand in a table, or alone, and are imported when first used: nothing is loaded before it is needed.
IMPORTS_BY_NAME = {
    "text/patterns.py",  # parts of `re` that only early versions of Python 3.11 need
    "recognize/source.py",  # the recognizer, which learns what it completes
    "cli/__init__.py",  # the verbs, which processes that a program starts do without
    "cli/annotate.py",  # the page, whose libraries an export does without
    "cli/execute.py",
    "cli/options.py",  # names of values, which a shell asks for
    "cli/predict.py",  # lakes, which one sentence does without
    "cli/train.py",
    "cli/verbs.py",  # parameters of models, which the verb that is run asks for
    "cli/view.py",  # drawings of hypergraphs, which need kernels
    "document/batch.py",  # the check of documents, which words what is wrong with one
    "document/document.py",  # its drawing, which only a notebook asks for
    "evaluate/report.py",  # likewise
    "extras.py",  # what other distributions add
    "features/computed.py",  # the dictionary of lemmas, which most models do not use
    "formats/listed.py",  # the modules of formats, of which most runs need one
    "formats/scanning.py",
    "integrations/spacy.py",
    "lazy.py",
    "model/kinds.py",
    "model/parameters.py",  # checkpoints, which a training with an encoder has
    "model/stages.py",
    "parallel.py",  # pools of threads and processes, which one sentence does without
    "recognize/recognizer.py",  # concepts and attributes, which most models do not have
    "recognize/stage.py",  # names of vocabularies, likewise
    "structures/__init__.py",  # modules of structures, by the names of these
    "rescoring/rescorer.py",  # names of vocabularies, likewise
    "models.py",
    "text/tokens.py",  # its kernel, which whoever reads and writes files does not need
}
# Tables of what is loaded by a name that a model file or a notebook asks for: the only names of folders below.
NAMED_BELOW = {"document/document.py", "evaluate/report.py", "model/kinds.py", "model/stages.py"}
# libraries of extras, which may be imported inside functions
OPTIONAL = {
    *(
        "cassis",
        "dask",
        "datasets",
        "duckdb",
        "fastapi",
        "matplotlib",
        "pandas",
        "polars",
        "pyarrow",
        "py4j",
        "pyspark",
        "ray",
        "sklearn",
        "spacy",
        "srsly",
    ),
    *("onnx", "onnxruntime", "tokenizers", "torch", "transformers", "uvicorn"),
}


def tree(module: Path) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def imports(module: Path) -> Iterator[str]:
    """Full names of what a module imports, wherever in it; relative imports resolved."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ("spanloom", *module.parent.parts)
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            yield from (f"{source}.{alias.name}" for alias in node.names)


def folder(module: Path) -> str:
    return "cli" if module == Path("__main__.py") else module.parts[0].removesuffix(".py")


def allowed(name: str) -> set[str]:
    """The folders that a folder may import from, its own among them."""
    if name in KERNELS:
        return {name, "errors", "native"}
    if name in FREE:
        return {name, "errors"}
    if name in STORED:
        return STORED | {"parallel"}  # threads write the pieces of a file
    above = set(ORDER[: ORDER.index(name)])
    return NARROW.get(name, above | STORED) | {name} | FREE


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_folder_imports_only_from_folders_above_it(module: Path) -> None:
    if module == Path("__init__.py"):
        return  # what it loads, and when, has tests of its own
    assert folder(module) in {*ORDER, *FREE, *STORED}, f"{folder(module)} has no place in the order of folders"
    found = {name for name in imports(module) if name.split(".")[0] == "spanloom"}
    wrong = sorted(
        name for name in found - {"spanloom.__version__"} if name.split(".")[1] not in allowed(folder(module))
    )
    assert not wrong, f"{module} may import from {', '.join(sorted(allowed(folder(module))))}"


def test_names_in_texts_are_of_folders_above() -> None:
    places = re.compile(r"spanloom\.(\w+)(?:\.\w+)*:\w[\w.]*")
    wrong = {
        module.as_posix()
        for module in MODULES
        if module.parent != Path()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := places.fullmatch(node.value))
        if found[1] not in allowed(folder(module))
    }
    assert wrong == NAMED_BELOW


def package_of(frame: FrameType) -> str | None:
    """The folder whose code runs: that of the object's class, where its method is inherited; ``None`` for helpers."""
    own, code = frame.f_locals.get("self"), frame.f_code
    module = type(own).__module__ if own is not None else frame.f_globals.get("__name__", "")
    name = module.removeprefix("spanloom.").split(".")[0]
    return name if module.startswith("spanloom.") and name in ORDER and code.co_name != "run_stages" else None


@pytest.mark.parametrize("kind", ["recognizer", "segmenter"])
def test_a_sentence_goes_through_each_pair_of_folders_in_one_direction(kind: str) -> None:
    """A folder calls only folders above it; executors and `run_stages` run what they are given."""
    text, words = ("no chest pain", [(0, 2), (3, 8), (9, 13)]) if kind == "recognizer" else ("无胸痛", [(0, 1), (1, 3)])
    span, attributes = (words[1][0], words[-1][1]), {"negated": True}
    note = Document(text, tokens=words, mentions=[Mention("problem", [span], attributes=attributes)])
    model = (Recognizer if kind == "recognizer" else Segmenter)(epochs=1).fit([note] * 40)
    called: dict[tuple[str, str], str] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (callee := package_of(frame)) is not None:
            before = frame.f_back
            while before is not None and package_of(before) is None:
                before = before.f_back
            if before is not None and (caller := package_of(before)) != callee:
                called[str(caller), callee] = f"{before.f_code.co_qualname} calls {frame.f_code.co_qualname}"

    sys.setprofile(watch)
    try:
        model.predict(text)
    finally:
        sys.setprofile(None)
    assert len(called) > 12
    assert {pair: said for pair, said in called.items() if ORDER.index(pair[0]) < ORDER.index(pair[1])} == {}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_stand_at_the_top(module: Path) -> None:
    inside = [
        ast.unparse(node)
        for function in ast.walk(tree(module))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [line for line in inside if line.split()[1].split(".")[0] not in OPTIONAL] == []
    if module.as_posix() not in IMPORTS_BY_NAME:
        names = {node.id for node in ast.walk(tree(module)) if isinstance(node, ast.Name)}
        assert not names & {"import_module", "resolve_name", "__import__"}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_modules_are_short_and_say_what_they_are(module: Path) -> None:
    lines = (PACKAGE / module).read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST, f"{module} has {lines} lines: split it along what changes for different reasons"
    assert ast.get_docstring(tree(module))


C_FILES = sorted((PACKAGE / "native").glob("*.[ch]"))


@pytest.mark.parametrize("path", C_FILES, ids=lambda path: path.name)
def test_c_is_short_and_says_what_it_is(path: Path) -> None:
    lines = path.read_text(encoding="ascii").splitlines()
    assert lines[0].startswith("/* ")
    assert [number for number, line in enumerate(lines, 1) if len(line) > 120] == []
    assert path.name == "spanloom.h" or len(lines) <= LONGEST + 200


def test_only_the_binding_loads_the_library() -> None:
    found = [module.as_posix() for module in MODULES if "ctypes" in imports(module)]
    assert found == ["files/staging.py", "native/__init__.py"]  # the first calls the system's `renameat2`


def test_the_package_needs_neither_numba_nor_scipy_nor_the_lab() -> None:
    names = {name.split(".")[0] for module in MODULES for name in imports(module)}
    assert not names & {"llvmlite", "numba", "scipy", "spanloom_lab"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not any(re.match("llvmlite|numba|scipy", name) for name in project["dependencies"])


def test_ci_runs_what_the_readme_promises() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    commands = "".join(blocks).splitlines()
    assert len(commands) == 3
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert all(any(re.match(rf"run '{re.escape(command)}['\s]", step) for step in steps) for command in commands)


def test_importing_spanloom_loads_nothing_heavy() -> None:
    heavy = {"numpy", "rich", "typer", "pydantic", "safetensors"}
    code = f"import sys, spanloom; print(sorted({heavy!r} & {{name.split('.')[0] for name in sys.modules}}))"
    assert loaded(code) == "[]"


def test_help_loads_no_kernel() -> None:
    code = (
        "import sys\nfrom spanloom.cli import main\nsys.stdout = sys.stderr\n"
        "try:\n    main(['train', 'recognizer', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy'} & set(sys.modules)), file=sys.__stdout__)"
    )
    assert loaded(code) == "[]"


def test_a_recognizer_loads_what_it_needs(tmp_path: Path) -> None:
    note = Document("no pain", mentions=[Mention("problem", [(3, 7)])])
    Recognizer(features=["w[0]"], epochs=1).fit([note] * 20).save(tmp_path / "model")
    libraries = {"rapidfuzz", "rich.console", "simplemma"}
    ours = {"spanloom.cli.train", "spanloom.evaluate.report", "spanloom.link.linker", "spanloom.segment.segmenter"}
    code = (
        "import sys, spanloom.cli.explain, spanloom.cli.predict, spanloom.models\n"
        f"spanloom.models.load({str(tmp_path / 'model')!r})\n"
        f"print(sorted({libraries | ours!r} & set(sys.modules)))"
    )
    assert loaded(code) == "[]"


def loaded(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


def test_the_page_on_architecture_names_places_that_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = re.findall(r"`(spanloom\.[\w.]+:[\w.]+)`", page)
    assert len(places) > 25
    for place in places:
        assert callable(resolve_name(place)), place
    folders = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.M))))
    assert folders == {*ORDER, "files"} - {"models"}


def test_the_drawing_is_that_of_the_page_and_of_the_order() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "architecture.py"))
    assert tuple(script["folders"]()) == ORDER
    assert len(script["walks"]()) == 4
    assert script["PICTURE"].read_text(encoding="utf-8") == script["drawn"](), "run python docs/architecture.py"


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda script: script.name)
def test_benchmarks_import_what_is_there(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "spanloom":
            try:
                module = importlib.import_module(node.module or "")
            except ModuleNotFoundError as error:
                if (error.name or "").split(".")[0] == "spanloom":
                    raise
                continue  # what an extra brings
            for name in node.names:
                assert hasattr(module, name.name) or find_spec(f"{node.module}.{name.name}"), name.name


def test_every_slow_test_is_there() -> None:
    lines = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()[1:]
    for path, _, name in (line.partition("[")[0].partition("::") for line in lines):
        assert (f"def {name}(" if name else "def test_") in (ROOT / path).read_text(encoding="utf-8"), (
            f"{path}::{name} is gone; update tests/slow.txt"
        )


@pytest.mark.parametrize(
    "kind", [Recognizer, Segmenter, Linker, *map(type, STRUCTURES.values())], ids=lambda kind: kind.__name__
)
def test_classes_state_what_they_find_and_show_an_example(kind: type) -> None:
    text = kind.__doc__ or ""
    assert all(f"- {head}: " in text for head in ("Finds", "Cannot", "Use"))
    assert "\n    >>> " in text or "\n>>> " in text
