"""What is packed: the distributions and what they hold, and that all that names a version or a library agrees."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pytest
import yaml

import spanloom

sdist, wheel = (pytest.importorskip(f"hatchling.builders.{name}") for name in ("sdist", "wheel"))

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "spanloom": ROOT,
    "spanloom_models": ROOT / "models",
    "spanloom_models_sa": ROOT / "models-sa",
    "spanloom_models_zh": ROOT / "models-zh",
}
MOST = {name: 7e6 if name == "spanloom" else 25e6 for name in FOLDERS}  # bytes of a wheel
DRAWER = re.compile(r"(^|/)(__pycache__|\.hypothesis|\.git|\.venv|build|dist)/|\.(pyc|nbi|nbc|so|part)$")

COPY = """
import shutil, sys
part = sys.argv[sys.argv.index("-o") + 1]
shutil.copy(part.rsplit(".", 2)[0], part)  # without the number of the process
"""


class Packed(NamedTuple):
    """The files of a distribution, without the folder with name and version that all stand in."""

    sdist: set[str]
    wheel: set[str]
    again: set[str]  # of the wheel that the sdist makes
    size: int
    about: str


def project(folder: Path = ROOT) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def built(builder: Any, root: Path, target: Path) -> Path:
    [made] = builder(str(root)).build(directory=str(target), versions=["standard"])
    return Path(made)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {*archive.namelist()}


@pytest.fixture(scope="module", params=FOLDERS)
def packed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Packed]:
    """The sdist of a folder, its wheel, and the wheel of the sdist."""
    folder = FOLDERS[request.param]
    made = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        if [*folder.glob("src/spanloom/native/*.bin")]:  # they are there: a compiler that copies them is quicker
            patch.setenv("CC", shlex.join([sys.executable, "-c", COPY]))
        source, ready = built(sdist.SdistBuilder, folder, made), built(wheel.WheelBuilder, folder, made)
    with tarfile.open(source) as archive:
        files = {PurePosixPath(member.name) for member in archive if member.isfile()}
        archive.extractall(made, filter="data")
    [top] = {file.parts[0] for file in files}
    if (hook := made / top / "hatch_build.py").exists():  # what kernels do is not looked at
        hook.write_text(hook.read_text(encoding="utf-8").replace('"-O3"', '"-O0"'), encoding="utf-8")
    again = built(wheel.WheelBuilder, made / top, made / "again")
    with zipfile.ZipFile(ready) as archive:
        about = archive.read(f"{request.param}-{spanloom.__version__}.dist-info/METADATA").decode()
    inside = {file.relative_to(top).as_posix() for file in files}
    return request.param, Packed(inside, names(ready), names(again), ready.stat().st_size, about)


def test_the_wheel_is_that_of_the_sdist(packed: tuple[str, Packed]) -> None:
    name, found = packed
    assert found.wheel == found.again
    assert all(file.startswith((f"{name}/", f"{name}-")) for file in found.wheel)  # no tests, no documents
    assert found.size < MOST[name]


def test_nothing_is_packed_that_a_run_has_left(packed: tuple[str, Packed]) -> None:
    assert [file for file in packed[1].sdist | packed[1].wheel if DRAWER.search(file)] == []


def test_what_is_needed_is_packed(packed: tuple[str, Packed]) -> None:
    name, found = packed
    licences = f"{name}-{spanloom.__version__}.dist-info/licenses"
    if name == "spanloom":
        source = ROOT / "src" / "spanloom"
        pages = {f"spanloom/{file.relative_to(source)}" for file in source.glob("*/static/*")}
        assert (
            pages | {"spanloom/py.typed", "spanloom/data/clinical/vocabulary.tsv", f"{licences}/LICENSE"} <= found.wheel
        )
        assert {
            "CITATION.cff",
            "SECURITY.md",
            "CONTRIBUTING.md",
            "docs/Dockerfile",
            "docs/conda/meta.yaml",
        } <= found.sdist
        assert {"docs/Dockerfile", "docs/conda/meta.yaml", "models/pyproject.toml", ".ci/run"} <= found.sdist
    else:
        cards = {file.name for file in (FOLDERS[name] / "src" / name).glob("*.md")}
        assert {f"{licences}/src/{name}/{card}" for card in cards} <= found.wheel
        assert {f"{name}/{Path(card).stem}/weights.safetensors" for card in cards} <= found.wheel


def test_the_description_is_whole(packed: tuple[str, Packed]) -> None:
    about = packed[1].about.partition("\n\n")[0]
    fields = {line.partition(":")[0] for line in about.splitlines()}
    assert {"Name", "Version", "Summary", "Author", "License-Expression", "License-File", "Keywords"} <= fields
    assert {"Classifier", "Requires-Python", "Description-Content-Type"} <= fields


def test_classifiers_are_known() -> None:
    from trove_classifiers import classifiers

    for folder in FOLDERS.values():
        assert set(project(folder)["classifiers"]) <= classifiers


def test_one_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {project()["version"], cited["version"], recipe()["package"]["version"]} == {spanloom.__version__}
    assert all(project(folder)["authors"] == cited["authors"] for folder in FOLDERS.values())
    assert cited["license"] == project()["license"]


def recipe() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "conda" / "meta.yaml").read_text(encoding="utf-8"))
    return found


def test_the_recipe_for_conda_asks_for_what_pip_does() -> None:
    said = project()
    asked = {re.sub(r"(?<=[a-z])(?=[<>=])", " ", one) for one in said["dependencies"]}
    python = f"python {said['requires-python']}"
    assert {*recipe()["requirements"]["run"]} == {python, *asked}
    built_with = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {*recipe()["requirements"]["host"]} == {python, "pip", *(one.replace(">=", " >=") for one in built_with)}
    assert recipe()["build"]["entry_points"] == [f"{name} = {code}" for name, code in said["scripts"].items()]


def test_no_command_installs_extras_of_a_folder_together_with_another_folder() -> None:
    """With pip 23 it then looks in the index for what the other one requires of the first."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / ".ci" / "run", ROOT / "docs" / "Dockerfile"]
    pages += [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("models*/*.md"), *ROOT.glob("benchmarks/*.md")]
    commands = [
        words for page in pages for words in re.findall(r"pip install ([^&`\n#]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(commands) > 10
    for words in commands:
        folders = [word for word in words.replace('"', " ").split() if word.startswith(".")]
        assert len(folders) < 2 or not any("[" in word for word in folders), f"pip install {words}"


def test_kernels_are_compiled_again_only_where_something_changed(tmp_path: Path) -> None:
    compiler, calls = tmp_path / "compiler.py", tmp_path / "calls"
    compiler.write_text(
        "import sys\n"
        "if '--version' not in sys.argv:\n"
        "    open(sys.argv[sys.argv.index('-o') + 1], 'wb').write(b'library')\n"
        f"    open({str(calls)!r}, 'a').write('x')\n"
    )
    build = runpy.run_path(str(ROOT / "hatch_build.py"))["build"]

    def count(*options: str) -> int:
        calls.write_text("")
        build([sys.executable, str(compiler), *options], tmp_path, "arm64")
        return len(calls.read_text())

    assert (count(), count()) == (1, 0)
    (tmp_path / "kernels-baseline.bin").write_bytes(b"damaged")
    assert (count(), count()) == (1, 0)
    (tmp_path / "kernels-baseline.key").write_bytes(b"\xff")
    assert (count(), count()) == (1, 0)
    assert (count("-x"), count("-x")) == (1, 0)
