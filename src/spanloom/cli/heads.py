"""`spanloom lab heads`: heads of mentions, by a rule."""

from __future__ import annotations

from pathlib import Path

from spanloom.cli.messages import Messages, lost
from spanloom.errors import UsageError
from spanloom.formats import FORMATS, read, write
from spanloom.lab.head_rules import HEAD_RULES, give_heads
from spanloom.text import prepare


def run(
    rule: str,
    source: str,
    output: str,
    output_format: str | None,
    input_format: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Read, give heads and write, a document at a time; say what was lost."""
    if rule not in HEAD_RULES:
        raise UsageError(f"no rule {rule!r}; there are {', '.join(HEAD_RULES)}")
    if output_format is None and Path(output).suffix.lower() not in {s for f in FORMATS.values() for s in f.suffixes}:
        output_format = "jsonl"
    documents = give_heads(map(prepare, read(source, format=input_format)), rule)
    losses = write(documents, output, format=output_format, force=force)
    if losses:
        Messages(quiet)(f"spanloom: {lost(losses)}")
