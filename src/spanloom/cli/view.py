"""`spanloom view`: documents and their mentions in the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from itertools import islice

from spanloom.formats import read
from spanloom.view import render


def run(data: str, limit: int | None, input_format: str | None) -> None:
    """Show each document as soon as it is read."""
    width, color = terminal()
    for i, document in enumerate(islice(read(data, format=input_format), limit)):
        if i:
            print()
        print(render(document, width=width, color=color), end="")


def terminal() -> tuple[int, bool]:
    """How wide standard output is, and whether it takes colours (https://no-color.org)."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return max(shutil.get_terminal_size().columns, 20), color
