"""Compilation of the kernels, in any build: a wheel, an editable installation, or `python hatch_build.py`.

The compiler is ``$CC`` or else the first of cc, gcc and clang. Where there is none, the build asks for the package
`ziglang`, which holds one, so nothing need be installed before `pip install`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # `python hatch_build.py` needs no hatchling
    BuildHookInterface = object  # type: ignore[assignment, misc]

FOLDER = Path(__file__).parent / "src" / "spanloom" / "native"
# Results are the same with every compiler and level: products and sums are not contracted, and none are reordered.
FLAGS = (
    "-std=c11", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-fno-strict-aliasing", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror=implicit-function-declaration",
)  # fmt: skip
# name of a system -> tag of its wheel, and what the compiler calls it
TARGETS = {
    "linux-x86_64": ("manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17"),
    "linux-aarch64": ("manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17"),
    "linux-musl-x86_64": ("musllinux_1_2_x86_64", "x86_64-linux-musl"),
    "linux-musl-aarch64": ("musllinux_1_2_aarch64", "aarch64-linux-musl"),
    "macos-x86_64": ("macosx_11_0_x86_64", "x86_64-macos.11.0"),
    "macos-arm64": ("macosx_11_0_arm64", "aarch64-macos.11.0"),
    "windows-x86_64": ("win_amd64", "x86_64-windows-gnu"),
}
ZIG = [sys.executable, "-m", "ziglang", "cc", "-s"]  # -s: without debug information
MISSING = "no C compiler: install cc, gcc or clang, or the package ziglang, or set CC"


def compiler() -> list[str] | None:
    """Return the command of the compiler; ``None`` where none is installed."""
    if given := shlex.split(os.environ.get("CC", "")):
        return given
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    return ZIG if find_spec("ziglang") else None


def levels(machine: str) -> dict[str, list[str]]:
    """Return the builds for a processor: its options of the compiler for each."""
    if machine.lower() not in ("x86_64", "amd64"):
        return {"baseline": []}
    return {"baseline": [], "avx2": ["-mavx2", "-mbmi", "-mbmi2", "-mfma"]}


def build(command: list[str], folder: Path = FOLDER, machine: str = platform.machine()) -> list[Path]:
    """Compile the kernels into a folder, and return the libraries.

    A library stays as it is where the file beside it, ``kernels-LEVEL.key``, has the digest of the same compiler,
    options and sources, and that of the library.

    Raises:
        RuntimeError: the compiler failed.
    """
    sources = sorted(FOLDER.glob("*.[ch]"))
    version = subprocess.run([*command, "--version"], capture_output=True, check=False).stdout
    common = b"".join([version, *(source.name.encode() + source.read_bytes() for source in sources)])

    def digests(call: list[str], path: Path) -> str:
        return " ".join(hashlib.sha256(data).hexdigest() for data in (repr(call).encode() + common, path.read_bytes()))

    def compile_(level: str, options: list[str]) -> Path:
        path, key = folder / f"kernels-{level}.bin", folder / f"kernels-{level}.key"
        same = [*command, *FLAGS, *options]
        if path.exists() and key.exists() and key.read_bytes() == digests(same, path).encode():
            return path
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        call = [*same, "-o", str(part), *(str(source) for source in sources if source.suffix == ".c"), "-lm"]
        run = subprocess.run(call, capture_output=True, text=True, check=False)
        if run.returncode:
            part.unlink(missing_ok=True)
            raise RuntimeError(f"{shlex.join(command)} could not compile the kernels:\n{run.stderr}")
        if run.stderr:
            print(run.stderr, file=sys.stderr)
        part.replace(path)
        key.write_text(digests(same, path))
        return path

    wanted = levels(machine)
    with ThreadPoolExecutor() as pool:
        return list(pool.map(compile_, wanted, wanted.values()))


class CustomBuildHook(BuildHookInterface):
    """The build hook of hatchling.

    The variable SPANLOOM_TARGET, one of `TARGETS`, builds the wheel of that system on any other.
    """

    made = ""  # a folder with what was compiled for another system

    def dependencies(self) -> list[str]:
        """Return what the build needs on this machine."""
        return [] if compiler() and "SPANLOOM_TARGET" not in os.environ else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, and name the wheel for its system: one for all versions of Python."""
        if self.target_name != "wheel":
            return
        if target := os.environ.get("SPANLOOM_TARGET"):
            tag, system = TARGETS[target]
            self.made = tempfile.mkdtemp()
            for path in build([*ZIG, "-target", system], Path(self.made), system.split("-")[0]):
                build_data["force_include"][str(path)] = f"spanloom/native/{path.name}"
        else:
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            for path in build(compiler() or sys.exit(MISSING)):
                build_data["artifacts"].append(f"/{path.relative_to(self.root).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled for another system."""
        if self.made:
            shutil.rmtree(self.made)


if __name__ == "__main__":
    for library in build(compiler() or sys.exit(MISSING)):
        print(library)
