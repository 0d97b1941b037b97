"""The page on containers, its Dockerfile, and the figures that it takes from records."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from typer.main import get_command

from spanloom.cli.app import app

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "docs" / "Dockerfile").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "how-to" / "containers.md").read_text(encoding="utf-8")


def test_the_page_shows_the_file() -> None:
    assert f"```dockerfile\n{DOCKERFILE}```\n" in PAGE


def test_what_is_copied_is_there() -> None:
    copied = [word for line in re.findall(r"^COPY (?!--)(.*)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    extras = re.findall(r'"\.\[(.*)\]"', DOCKERFILE)[0].split(",")
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{name} = [" in declared for name in extras)


def test_what_the_image_runs_are_command_lines() -> None:
    command: Any = get_command(app)
    lines = [shlex.split(line) for line in re.findall(r"^RUN spanloom (.*)$", DOCKERFILE, re.MULTILINE)]
    lines += [json.loads(line) for line in re.findall(r"^CMD (.*)$", DOCKERFILE, re.MULTILINE)]
    for line in re.findall(r"^\$ docker run (.*)$", PAGE.replace("\\\n", ""), re.MULTILINE):
        words = shlex.split(line)
        lines.append(words[words.index("spanloom") + 1 :])
    assert [verb for verb, *_ in filter(None, lines)] == ["serve", "serve", "predict"]
    for verb, *words in filter(None, lines):
        command.commands[verb].make_context(verb, words)


def test_rates_are_those_of_the_record() -> None:
    record = (ROOT / "benchmarks" / "results" / "lake.md").read_text(encoding="utf-8")
    found = [
        re.findall(rf"^\| {stage}, lake \| 1 \| [\d.,]+ \| ([\d.,]+) \|", record, re.MULTILINE)[0]
        for stage in ("one stage", "with the second stage")
    ]
    rates = [round(250 * float(rate.replace(",", ""))) for rate in found]
    assert f"for rate in ({rates[0]:_}, {rates[1]:_})])" in PAGE
    assert all(rate in PAGE for rate in found)
    for notes, tokens in (("1 million", 250e6), ("10 million", 2.5e9), ("100 million", 25e9)):
        hours = " | ".join(f"{tokens / rate / 3600:.1f}" for rate in rates)
        assert re.search(rf"^\| {notes} \| .* \| {re.escape(hours)} \|$", PAGE, re.MULTILINE)
