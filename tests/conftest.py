"""What several folders of tests share: the real command, one small trained model, and which libraries tests need."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

import spanloom
from spanloom.cli import main
from spanloom.data import clinical

LAB = Path(__file__).parents[1] / "lab"
# for PyTorch, here and in processes that tests start: its threads spin while they wait, which takes ten times as long
# where other tests have the processors
os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


def _use_lab(info: Path) -> None:
    """Make the lab of this checkout importable, as if it were installed; in processes that tests start, too."""
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spanloom-lab\nVersion: 0\n")
    groups = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    lines = [
        f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in group.items()) for name, group in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    places = [str(LAB / "src"), str(info.parent)]
    sys.path += places
    os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *places])


if find_spec("spanloom_lab") is None:
    _temporary = TemporaryDirectory()
    atexit.register(_temporary.cleanup)
    _info = Path(_temporary.name) / "spanloom_lab-0.dist-info"
    _info.mkdir()
    _use_lab(_info)

# Tests and folders that import optional libraries, and those libraries; single tests have the marker `needs`.
NEEDS = {
    "annotate/test_annotate_page.py": ("playwright", "axe_playwright_python"),
    "annotate/test_annotate_sessions.py": ("playwright",),
    "encoder": ("torch", "transformers", "tokenizers", "onnx", "onnxruntime"),
    "formats/test_columns_of_mentions.py": ("pandas", "pyarrow"),
    "formats/test_docbin.py": ("spacy",),
    "formats/test_inputs.py": ("pandas", "pyarrow"),
    "formats/test_parquet.py": ("pyarrow",),
    "formats/test_tagged_records.py": ("datasets", "pyarrow"),
    "formats/test_xmi.py": ("cassis",),
    "integrations/test_engine_executors.py": ("pyarrow", "ray"),
    "integrations/test_engines.py": ("pyarrow",),
    "integrations/test_huggingface.py": ("datasets",),
    "integrations/test_spacy_component.py": ("spacy",),
    "lake/test_annotator.py": ("pyarrow",),
    "lake/test_hostile_ledgers.py": ("pyarrow",),
    "lake/test_lake_verb.py": ("pyarrow",),
    "recognize/test_given.py": ("pandas", "pyarrow"),
    "serve/test_inception.py": ("cassis",),
    "serve/test_web_page.py": ("playwright", "axe_playwright_python"),
    "tag/test_spacy_tagger.py": ("spacy",),
    "test_notebooks.py": ("sphinx",),
    "test_packaging.py": ("hatchling", "trove_classifiers", "yaml"),
    "test_site.py": ("sphinx", "furo", "myst_parser"),
    "test_typing.py": ("mypy",),
    "view/test_screenshots.py": ("playwright", "axe_playwright_python", "markdown_it"),
    "view/test_site_pages.py": ("playwright", "axe_playwright_python", "markdown_it", "sphinx", "furo", "myst_parser"),
}
_gone = [place for place in NEEDS if not (Path(__file__).parent / place).exists()]
if _gone:
    raise FileNotFoundError(f"tests that need libraries are not there: {', '.join(_gone)}")


def is_missing(library: str) -> bool:
    """Whether a library is not installed."""
    return find_spec(library) is None


_missing = {place: [name for name in names if is_missing(name)] for place, names in NEEDS.items()}
collect_ignore = [place for place, names in _missing.items() if names]


# single tests, by their names
NEEDED_BY_TESTS = {
    "hostile/test_campaign.py::test_damaged_files_are_read_or_refused_in_one_line": ("cassis", "pyarrow", "spacy"),
    "hostile/test_campaign.py::test_folders_of_strangers_change_nothing_elsewhere": ("pyarrow",),
    "hostile/test_campaign.py::test_no_system_call_of_a_reader_changes_a_file": ("pyarrow",),
    "hostile/test_campaign.py::test_runs_killed_at_random_calls_leave_the_old_or_the_new": ("pyarrow",),
    "recognize/test_executors.py::test_the_command_line": ("ray",),
    "recognize/test_executors.py::test_what_an_executor_needs_is_told_at_once[ray-params1-work-executor is 'ray', "
    "which needs the optimizer 'lbfgs', as steps]": ("ray",),
    "view/test_error_page.py::test_command": ("matplotlib",),
    "view/test_error_page.py::test_curves_of_a_model": ("matplotlib",),
    "formats/test_attributes_in_formats.py::test_what_is_written_is_read[parquet]": ("pyarrow",),
    "formats/test_attributes_in_formats.py::test_what_is_written_is_read[arrow]": ("pyarrow",),
    "formats/test_attributes_in_formats.py::test_what_is_written_is_read[xmi]": ("cassis",),
    "formats/test_attributes_in_formats.py::test_what_is_written_is_read[spacy]": ("spacy",),
    "cli/test_split_verb.py::test_formats_of_parts[parquet]": ("pyarrow",),
    "cli/test_split_verb.py::test_formats_of_parts[spacy]": ("spacy",),
    "cli/test_split_verb.py::test_formats_of_parts[xmi]": ("cassis",),
    "formats/test_table_of_formats.py::test_the_page_says_what_each_format_holds": ("cassis", "pyarrow", "spacy"),
    **{
        f"formats/test_annotation_elsewhere.py::test_annotation_of_xmi[{name}]": ("cassis",)
        for name in ("one", "twice", "views", "list")
    },
    "test_architecture.py::test_benchmarks_import_what_is_there[decoders.py]": ("torch",),
    "test_doctests.py::test_module[spanloom.integrations.huggingface]": ("datasets",),
    "test_doctests.py::test_module[spanloom.lake.annotator]": ("pyarrow",),
    "test_doctests.py::test_page[docs/formats.md]": ("pandas", "pyarrow"),
    "test_doctests.py::test_page[docs/gallery.md]": ("matplotlib",),
    "test_doctests.py::test_page[docs/how-to/from-spacy.md]": ("spacy",),
    "test_doctests.py::test_page[docs/tasks.md]": ("spacy",),
    "test_doctests.py::test_page[docs/tutorials/texts-and-tables.md]": ("pandas",),
}
# the files whose slow tests take longest: begun last, one of them would run alone in the end
LONG = ("test_doctests.py", "test_builds.py", "test_capabilities.py", "test_campaign.py", "test_compare.py")
SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines()[1:])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection, which is half of the time, and keep what was collected out of later ones."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that are slow, and single ones that need libraries; the longest files come first."""
    items.sort(key=lambda item: not item.path.name.endswith(LONG))
    for item in items:
        file = item.nodeid.partition("::")[0]
        if item.nodeid in SLOW or file in SLOW:
            item.add_marker("slow")
        item.add_marker(pytest.mark.needs(*NEEDED_BY_TESTS.get(item.nodeid.removeprefix("tests/"), ())))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Skip a test that imports a library that is not installed, directly or through the package."""
    try:
        return (yield)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ModuleNotFoundError):
            cause = cause.__cause__
        library = (getattr(cause, "name", None) or "").partition(".")[0]
        if library and library not in ("spanloom", "tests") and find_spec(library) is None:
            pytest.skip(f"not installed: {library}")
        raise


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test one of whose libraries is not installed."""
    lacking = [name for mark in item.iter_markers("needs") for name in mark.args if is_missing(name)]
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line that names what was left out for want of libraries."""
    names = {name for lacking in _missing.values() for name in lacking}
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    single = sum("not installed: " in reason for reason in skipped)
    if names or single:
        terminalreporter.write_line(
            f"left out: {len(collect_ignore)} files or folders and {single} single tests, whose libraries are not "
            f"installed ({', '.join(sorted(names))}); pip install '.[test-all]' installs them"
        )


settings.register_profile("no clock", deadline=None)  # a deadline is one of the wall clock's, and machines are busy
settings.load_profile("no clock")


class Result(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Result]


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs a command line here, with streams of its own: `command("validate", path, input="...")`."""

    def run(*arguments: str | Path, input: str = "") -> Result:
        streams = [TextIOWrapper(BytesIO(text.encode()), encoding="utf-8", newline="") for text in (input, "", "")]
        before = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
        for stream in streams:
            stream.flush()
        out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])  # type: ignore[attr-defined]
        return Result(code if isinstance(code, int) else int(code is not None), out, err)

    return run


@pytest.fixture(scope="session")
def process() -> Command:
    """Runs a command line in a process of its own, as a shell does; options go to `subprocess.run`."""

    def run(*arguments: str | Path, **options: Any) -> Result:
        line = [sys.executable, "-m", "spanloom.cli", *map(str, arguments)]
        settings = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "encoding": "utf-8",
            "timeout": 300,
            **options,
        }
        done = subprocess.run(line, check=False, **settings)
        return Result(done.returncode, done.stdout or "", done.stderr or "")

    return run


Linear = Callable[[Callable[[int], Callable[[], object]], int], None]
_GROWTH, _MOST, _TRIES = 4, 9.0, 5  # a quadratic time grows by 16; of a busy machine the best try counts


@pytest.fixture(scope="session")
def assert_linear() -> Linear:
    """`assert_linear(prepare, n)`: the processor time of what `prepare(n)` gives grows as n does, not as its square."""

    def check(prepare: Callable[[int], Callable[[], object]], count: int) -> None:
        def seconds(count: int) -> float:
            work = prepare(count)
            gc.disable()  # a pass over all that other tests left would be counted, too
            try:
                began = process_time()
                work()
                return process_time() - began
            finally:
                gc.enable()

        seconds(10)
        ratios: list[float] = []
        while len(ratios) < _TRIES and not any(ratio < _MOST for ratio in ratios):
            ratios.append(seconds(_GROWTH * count) / max(seconds(count), 1e-3))
        assert min(ratios) < _MOST

    return check


# each text once with its mentions as (type, surface); a surface with " ... " has a gap
_NOTES = [
    ("Chest pain and dyspnea on exertion.", "problem:Chest pain", "body:Chest", "problem:dyspnea on exertion"),
    ("No chest pain today.", "problem:chest pain", "body:chest"),
    ("Mild to moderate mitral regurgitation.", "problem:Mild to moderate mitral regurgitation", "body:mitral"),
    ("Severe aortic stenosis was seen.", "problem:Severe aortic stenosis", "body:aortic"),
    ("Left and right lower lobe infiltrates.", "problem:Left ... lower lobe infiltrates", "body:right lower lobe"),
    ("The left atrium is dilated.", "problem:left atrium is dilated", "body:left atrium"),
    ("Denies abdominal pain or nausea.", "problem:abdominal pain", "body:abdominal", "problem:nausea"),
    ("Started on aspirin for chest pain.", "drug:aspirin", "problem:chest pain", "body:chest"),
    ("The mitral valve is thickened.", "problem:mitral valve is thickened", "body:mitral valve"),
    ("Lisinopril was stopped for cough.", "drug:Lisinopril", "problem:cough"),
]


def _document(number: int, text: str, *mentions: str) -> spanloom.Document:
    marked = []
    for mention in mentions:
        kind, _, surface = mention.partition(":")
        starts = [(text.index(part), len(part)) for part in surface.split(" ... ")]
        marked.append(spanloom.Mention(kind, [(start, start + length) for start, length in starts]))
    return spanloom.Document(text, id=f"note-{number}", mentions=marked)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `train.jsonl` and `dev.jsonl`, small enough to train on in a moment."""
    folder = tmp_path_factory.mktemp("corpus")
    documents = [_document(number, *note) for number, note in enumerate(_NOTES)]
    spanloom.write(documents, folder / "train.jsonl")
    spanloom.write(documents[:4], folder / "dev.jsonl")
    return folder


@pytest.fixture(scope="session")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory; copy it before changing anything."""
    path = tmp_path_factory.mktemp("model") / "model"
    recognizer = spanloom.Recognizer(structure="separators", features="biomedical", epochs=5)
    recognizer.fit(list(spanloom.read(corpus / "train.jsonl")), dev=list(spanloom.read(corpus / "dev.jsonl")))
    recognizer.save(path)
    return path


class Notes(NamedTuple):
    """The bundled corpus."""

    train: list[spanloom.Document]
    dev: list[spanloom.Document]
    test: list[spanloom.Document]


@pytest.fixture(scope="session")
def notes() -> Notes:
    """The parts of the bundled corpus, without attributes, which take time to learn; change none of them."""
    return Notes(*([bare(one) for one in spanloom.read(clinical() / part)] for part in ("train", "dev", "test")))


def bare(document: spanloom.Document) -> spanloom.Document:
    """The document without the attributes of its mentions."""
    return document.copy(mentions=[mention.replace(attributes={}) for mention in document.mentions])


@pytest.fixture(scope="session")
def trained(notes: Notes) -> spanloom.Recognizer:
    """A recognizer trained on it; change nothing about it."""
    recognizer = spanloom.Recognizer(features=["bias", "low[-1..1]", "suffix(2..3)"], rate=0.3, l2=0.1, epochs=3)
    return recognizer.fit(notes.train, dev=notes.dev)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; where SPANLOOM_BROWSER is "required", as in CI, its absence is a failure."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("SPANLOOM_BROWSER") == "required":
            pytest.fail("SPANLOOM_BROWSER is 'required', but there is no chromium; apt-get install chromium")
        pytest.skip("no chromium to drive the page with; apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=flags)
        yield found
        found.close()


@pytest.fixture
def pages(browser: Any) -> Iterator[Callable[..., Any]]:
    """`pages(url, **settings)` opens a page; none may leave an error in its console, nor ask another server."""
    contexts, wrong = [], list[str]()

    def open_(url: str, **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        contexts.append(context)
        page, server = context.new_page(), url.partition("?")[0]

        def only_ours(route: Any) -> None:
            if route.request.url.startswith(server):
                route.continue_()
            else:
                wrong.append(route.request.url)
                route.abort()

        page.route("**/*", only_ours)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def violations() -> Callable[..., list[str]]:
    """What axe-core finds wrong with a page of a browser, in light and in dark: the rule and the element of each."""
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()

    def found(page: Any) -> list[str]:
        wrong = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(300)  # colours may change by a transition
            for rule in axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]:
                wrong += [f"{scheme} {rule['id']}: {node['html'][:200]}" for node in rule["nodes"]]
        return wrong

    return found
