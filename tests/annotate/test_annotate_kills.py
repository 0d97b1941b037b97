"""The browser and the server are killed while somebody annotates: four kills of the benchmark, which has a hundred."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "annotate_kills.py"


def test_what_the_page_showed_as_saved_survives_kills(tmp_path: Path) -> None:
    if shutil.which("chromium") is None and os.environ.get("SPANLOOM_BROWSER") != "required":
        pytest.skip("no chromium to drive the page with; apt-get install chromium")
    out = tmp_path / "kills.json"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--kills", "4", "--out", out], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(out.read_text())
    assert all(check["met"] for check in record["checks"]), record["data"]["found"]
    assert record["data"]["counts"]["mentions shown as saved"] > 0
