"""Every build gives the same bytes, and touches no memory that is not its own."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spanloom

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "same.py"
PACKAGE = Path(spanloom.__file__).parent / "native"
MODELS = ("recognizer presets", "linker joint")  # quick ones, with clusters, dictionaries and a beam
# compiler -> its command, and the builds: for any processor, or for this one at all levels
COMPILERS = {
    "clang": (["clang"], "any"),
    "zig": ([sys.executable, "-m", "ziglang", "cc"], platform.machine()),
    "gcc, few optimizations": (["gcc", "-O1", "-fno-inline"], "any"),
}
SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
# Kernels of training, of other searches and of data, which get no array of a model in a prediction; wild_arguments.py
# calls these, too.
WITHOUT_MODELS = (
    "adagrad add_rows add_scaled add_words ascend best_concepts count count_constants derivation_sums "
    "dot enter_words gather gather_dense group join_clusters kbest link_change link_role "
    "link_search link_train list_batch log_sums match number rows_of_tokens sample scaled_logs score_words signatures "
    "sparse_product take_exponentials take_logarithms texts transpose write_pairs "
)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the library is loaded by LD_PRELOAD, and built by gcc")


def hook():
    """The module that builds the kernels."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def program(library: Path, *arguments: object, **environment: str) -> str:
    """What a program says that uses a library."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False,
        env={**os.environ, "SPANLOOM_KERNELS": str(library), **environment},
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def digests(tmp_path_factory) -> Path:
    """Of the models of the baseline build."""
    path = tmp_path_factory.mktemp("digests") / "baseline.json"
    program(PACKAGE / "kernels-baseline.bin", SCRIPT, "--out", path, "--only", *MODELS)
    return path


@pytest.mark.skipif(not (PACKAGE / "kernels-avx2.bin").exists(), reason="another processor")
def test_both_levels_give_the_same_bytes(digests: Path, tmp_path: Path) -> None:
    arguments = ("--before", digests, "--only", *MODELS)
    said = program(PACKAGE / "kernels-avx2.bin", SCRIPT, "--out", tmp_path / "avx2.json", *arguments)
    assert f"the same: {len(MODELS)} models" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILERS)
def test_every_compiler_gives_the_same_bytes(name: str, digests: Path, tmp_path: Path) -> None:
    command, machine = COMPILERS[name]
    if not shutil.which(command[0]) or (name == "zig" and importlib.util.find_spec("ziglang") is None):
        pytest.skip("not installed")
    built = hook()
    if "-O1" in command:
        built.FLAGS = tuple(flag for flag in built.FLAGS if flag != "-O3")
    for library in built.build(command, tmp_path, machine):
        said = program(library, SCRIPT, "--out", tmp_path / "a.json", "--before", digests, "--only", *MODELS)
        assert f"the same: {len(MODELS)} models" in said, library


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A build with sanitizers, and the environment that it needs."""
    runtime = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("gcc has no sanitizers here")
    built = hook()
    built.FLAGS = (*(flag for flag in built.FLAGS if flag != "-O3"), "-O1", *SANITIZERS)
    environment = {
        "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }  # fmt: skip
    [library] = built.build(["gcc"], tmp_path_factory.mktemp("sanitized"), "any")
    return library, environment


@pytest.mark.slow
def test_no_kernel_leaves_its_memory(sanitized: tuple[Path, dict[str, str]]) -> None:
    library, environment = sanitized
    said = program(library, Path(__file__).with_name("wild_arguments.py"), 8, **environment)
    assert " were refused" in said


@pytest.mark.slow
def test_no_model_file_leads_a_kernel_out_of_its_memory(sanitized: tuple[Path, dict[str, str]]) -> None:
    library, environment = sanitized
    said = program(library, ROOT / "tests" / "hostile" / "hostile_models.py", 2, **environment)
    kernels = re.findall(r"^KERNEL\((\w+),", (PACKAGE / "spanloom.h").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*kernels} - {*said.rpartition("kernels: ")[2].split()} == {*WITHOUT_MODELS.split()}
