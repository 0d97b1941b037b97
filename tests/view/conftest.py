"""A browser for the pages, as the script of the screenshots starts it."""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    make = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "screenshots" / "make.py"))
    if make["executable"]() is None:
        if os.environ.get("SPANLOOM_BROWSER") == "required":
            pytest.fail("no Chromium on the path, and SPANLOOM_BROWSER is 'required'")
        pytest.skip("no Chromium on the path; set SPANLOOM_BROWSER=required to fail instead")
    with make["browser"]() as started:
        yield started
