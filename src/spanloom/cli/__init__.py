"""The command line: one module a verb, imported when the verb runs, so that `--help` stays quick."""

from __future__ import annotations

from spanloom.cli.app import main

__all__ = ["main"]
