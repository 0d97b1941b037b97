"""A new user's first steps: a transcript of the README's commands and of own data, on a fresh installation.

    python benchmarks/first_steps.py [--out benchmarks/results/first_steps.md]

Makes a virtual environment and an empty home in a temporary folder, installs Spanloom and the ready models there
without any extra, and runs each command as a terminal would: what it shows is in the record. Needs no corpora
and, but for pip, no network. Seconds are those of the processor, user and system, and those on the clock.
"""

from __future__ import annotations

import argparse
import os
import platform
import pty
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = 24  # lines of an output; the middle of a longer one is left out
WIDTH = 110
LETTER = """\
Dear Dr. Miller,

thank you for referring Mrs. Jones, who has had chest
pain and shortness of breath for two weeks. She takes
lisinopril and was given aspirin, but stopped it because
of a gastro-
intestinal bleed.
- no fever
- mild renal
  failure
"""
TABLE = """\
patient,note
p1,IL-2 gene expression and NF-kappa B activation through CD28.
p2,"The Pax6 gene, in mice; T cells were not seen."
"""
STEPS: list[tuple[str, str, list[str]]] = [
    (
        "The README's first two commands",
        "The installation compiles the kernels.",
        [
            "pip install {root} {root}/models",
            "spanloom demo",
            'echo "NF-kappa B activates the IL-2 promoter in T cells" | spanloom predict genia -',
        ],
    ),
    (
        "The README's commands for own text",
        "The bundled notes take the place of own ones. Without a verb, `spanloom` suggests what to do with them.",
        [
            "cp -r \"$(python -c 'from spanloom.data import clinical; print(clinical())')\" notes",
            "spanloom",
            "spanloom validate notes/train",
            "spanloom train recognizer --train notes/train --dev notes/dev --output model",
            "spanloom predict model notes/sample.txt",
            "spanloom predict model notes/sample.txt --output sample.jsonl",
            "spanloom view sample.jsonl --output sample.html",
            "spanloom evaluate notes/test --model model",
            "spanloom inspect model --top 2",
            "echo 'No chest pain or dyspnea.' | spanloom predict model - --threshold 0.5",
        ],
    ),
    (
        "An own folder of brat files",
        "No development data, no options.",
        [
            "cp -r notes/train mine",
            "spanloom train recognizer --train mine --output my-model",
            "spanloom predict my-model notes/test --output found.jsonl",
            "spanloom evaluate notes/test found.jsonl",
            "spanloom predict my-model notes/sample.txt",
        ],
    ),
    (
        "A CSV of texts",
        "Then to a spreadsheet.",
        [
            "cat texts.csv",
            "spanloom predict genia texts.csv",
            "spanloom predict genia texts.csv --columns text=note,id=patient --output mentions.csv",
            "cat mentions.csv",
        ],
    ),
    (
        "A letter with hard line breaks",
        "Mentions continue across line breaks.",
        [
            "cat letter.txt",
            "spanloom predict bc5cdr letter.txt",
            "spanloom predict bc5cdr letter.txt | spanloom view -",
        ],
    ),
    (
        "Slips",
        "An error is one line, and comes quickly.",
        [
            "spanloom predict genai letter.txt",
            "spanloom predict genia leter.txt",
            "spanloom convert sample.jsonl out.txt --format bart",
            "spanloom predct genia letter.txt",
        ],
    ),
    (
        "Once more",
        "Files are in the system's cache now.",
        [
            "spanloom demo --quiet",
            'echo "NF-kappa B activates the IL-2 promoter in T cells" | spanloom predict genia -',
            'echo "NF-kappa B activates the IL-2 promoter in T cells" | spanloom predict genia - > found.jsonl',
            "spanloom --help > help.txt",
        ],
    ),
]


def run(command: str, folder: Path, environment: dict[str, str]) -> tuple[str, float, float, int]:
    """Run a command in a terminal; return what it writes, processor seconds, seconds on the clock and exit code."""
    ours, theirs = pty.openpty()
    start = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    assert process.stderr is not None
    parts = list[bytes]()
    reader = threading.Thread(target=lambda: parts.extend(process.stderr or ()))
    reader.start()
    try:
        while part := os.read(ours, 4096):
            parts.append(part)
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    code = process.wait()
    reader.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return b"".join(parts).decode("utf-8", "replace").replace("\r\n", "\n"), seconds, time.monotonic() - start, code


def shortened(output: str, folder: Path) -> str:
    """Return an output without colours and the names of temporary folders, and without its middle if it is long."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output).replace(f"{folder}/", "").replace(str(folder.parent), "~")
    lines = [line[at : at + WIDTH] for line in plain.strip("\n").splitlines() for at in range(0, len(line) or 1, WIDTH)]
    if len(lines) > SHOWN:
        lines = [*lines[: SHOWN // 2], f"... {len(lines) - SHOWN} lines ...", *lines[-SHOWN // 2 :]]
    return "\n".join(lines)


def machine() -> str:
    """The processor, its instruction sets, cores, load and Python."""
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        info = ""
    model = re.search(r"model name\s*: (.*)", info)
    sets = [name for name in ("avx2", "avx512f", "amx_tile") if name in info.split()]
    return (
        f"{platform.system()} {platform.machine()}, {model[1] if model else platform.processor()} "
        f"({', '.join(sets) or 'instruction sets unknown'}), {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}"
    )


def megabytes(folder: Path) -> float:
    """The size of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) / 1e6


def main() -> None:
    """Run all steps and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default=str(ROOT / "benchmarks/results/first_steps.md"))
    out = Path(parser.parse_args().out)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    ).stdout.strip()
    before = machine()
    sections, table, total = [], [], 0.0
    with tempfile.TemporaryDirectory() as temporary:
        folder, env = Path(temporary, "first-steps"), Path(temporary, "env")
        folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
        (folder / "letter.txt").write_text(LETTER, encoding="utf-8")
        (folder / "texts.csv").write_text(TABLE, encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HTTP", "http", "SSL"))}
        environment = {
            **kept, "PATH": f"{env / 'bin'}:/usr/bin:/bin", "VIRTUAL_ENV": str(env), "HOME": temporary,
            "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "PIP_QUIET": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore",
        }  # fmt: skip
        for title, said, commands in STEPS:
            blocks = []
            for command in commands:
                output, seconds, waited, code = run(
                    command.format(root=ROOT) if "{root}" in command else command, folder, environment
                )
                shown = command.replace("{root}/", "./").replace("{root}", ".")
                table.append(f"| `{shown.replace('|', chr(92) + '|')}` | {seconds:.1f} | {waited:.1f} | {code} |")
                total += waited
                blocks.append(f"```text\n$ {shown}\n{shortened(output, folder)}\n```".replace("\n\n```", "\n```"))
                print(table[-1], flush=True)
            sections.append(f"## {title}\n\n{said}\n\n" + "\n\n".join(blocks))
        size = megabytes(env)
    heading = (
        "# First steps\n\n"
        f"`python benchmarks/first_steps.py`, {datetime.now(UTC):%Y-%m-%d}, commit {commit}. {before} (load at the end "
        f"{os.getloadavg()[0]:.1f}). All commands take {total / 60:.1f} minutes on the clock, "
        f"installation included; the rest of a first quarter of an hour is for reading. "
        f"The environment has {size:.0f} MB afterwards.\n\n"
        "| command | seconds of the processor | seconds on the clock | exit code |\n|---|---|---|---|\n"
    )
    out.write_text(heading + "\n".join(table) + "\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
