"""Compilation of the kernels, in any build: a wheel, an editable installation, or `python hatch_build.py`.

The compiler is ``$CC`` or else the first of cc, gcc and clang. Where there is none, the build asks for the package
`ziglang`, which holds one, so nothing need be installed before `pip install`.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
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


def compiler() -> list[str] | None:
    """Return the command of the compiler; ``None`` where none is installed."""
    if given := shlex.split(os.environ.get("CC", "")):
        return given
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    return [sys.executable, "-m", "ziglang", "cc"] if find_spec("ziglang") else None


def levels(target: str) -> dict[str, list[str]]:
    """Return the builds for a processor: its options of the compiler for each."""
    if target.lower() not in ("x86_64", "amd64"):
        return {"baseline": []}
    return {"baseline": [], "avx2": ["-mavx2", "-mbmi", "-mbmi2", "-mfma"]}


def build(
    command: list[str],
    folder: Path = FOLDER,
    *,
    more: tuple[str, ...] = (),
    target: str = "",
    system: str = sys.platform,
) -> list[Path]:
    """Compile the kernels into a folder, and return the libraries.

    Raises:
        RuntimeError: the compiler failed.
    """
    made = []
    for level, options in levels(target or platform.machine()).items():
        path = folder / f"kernels-{level}.bin"
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        call = [
            *command,
            *FLAGS,
            *options,
            *more,
            "-o",
            str(part),
            *map(str, sorted(FOLDER.glob("*.c"))),
            *(() if system == "win32" else ("-lm",)),
        ]
        run = subprocess.run(call, capture_output=True, text=True, check=False)
        if run.returncode:
            part.unlink(missing_ok=True)
            raise RuntimeError(f"{shlex.join(command)} could not compile the kernels:\n{run.stderr}")
        if run.stderr:
            print(run.stderr, file=sys.stderr)
        part.replace(path)
        made.append(path)
    return made


class CustomBuildHook(BuildHookInterface):
    """The build hook of hatchling."""

    def dependencies(self) -> list[str]:
        """Return what the build needs on this machine."""
        return [] if compiler() else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, and name the wheel for this system: one for all versions of Python."""
        if self.target_name != "wheel":
            return
        command = compiler()
        if command is None:
            raise RuntimeError("no C compiler: install cc, gcc or clang, or the package ziglang, or set CC")
        for path in build(command):
            build_data["artifacts"].append(f"/{path.relative_to(self.root).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


if __name__ == "__main__":
    found = compiler()
    if found is None:
        sys.exit("no C compiler: install cc, gcc or clang, or the package ziglang, or set CC")
    for library in build(found):
        print(library)
