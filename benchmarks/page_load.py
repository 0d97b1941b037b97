"""The page of `spanloom serve` in Chromium: from an empty cache to a sentence that is marked up, in under 2 s.

    python benchmarks/page_load.py [--loads 20]

It needs Playwright and a Chromium on the path; no corpora. The server is started with the model of the demo. Each load
is one of a browser that has just been started, with nothing cached: from the request of the page until the first
mention of a typed sentence is drawn. The first load is also the first thing that the server is asked.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Playwright, sync_playwright

from common import Clock, Result, options, say
from serving import running, train

MOST = 2.0  # seconds
LARGEST = 300_000  # bytes
SENTENCE = "The patient has left and right lower lobe infiltrates without chest pain or fever."
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def load(playwright: Playwright, browser: str, address: str) -> tuple[float, float, int]:
    """Seconds until the page is there, seconds until the sentence is marked up, bytes of the page and its scripts."""
    started = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
    tab = started.new_page()
    scripts: list[str] = []
    tab.on("request", lambda request: scripts.append(request.url) if request.resource_type == "script" else None)
    with Clock() as clock:
        answer = tab.goto(address)
        there = clock.elapsed.wall
        tab.fill("#text", SENTENCE)
        tab.click("button[type=submit]")
        tab.locator("#marked .b").first.wait_for()
    assert answer is not None
    size = len(answer.body()) + sum(len(tab.request.get(url).body()) for url in dict.fromkeys(scripts))
    started.close()
    return there, clock.seconds.wall, size


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--loads", type=int, default=20, help="how many [20]")


def main() -> None:
    """Measure."""
    chosen = options("page_load", __doc__, _more, corpora=False)
    browser = shutil.which("chromium")
    if browser is None:
        raise SystemExit("there is no chromium on the path")
    result = Result("The page of spanloom serve, from an empty cache to a sentence that is marked up", chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = train(Path(folder))
        say("the model is trained")
        with running(model) as server, sync_playwright() as playwright:
            found = [load(playwright, browser, f"http://127.0.0.1:{server.port}/") for _ in range(chosen.loads)]
    there, marked, sizes = (np.array(column) for column in zip(*found, strict=True))
    result.table(
        f"{chosen.loads} loads, each in a browser that was just started",
        ("until", "first, s", "median, s", "slowest, s"),
        [
            ["the page is there", float(there[0]), float(np.median(there)), float(there.max())],
            ["a sentence is marked up", float(marked[0]), float(np.median(marked)), float(marked.max())],
        ],
        f"The page and its scripts have {int(sizes[0]):,} bytes. The browser runs on the same cores as the server.",
    )
    result.at_most("slowest load until a sentence is marked up, s", float(marked.max()), MOST)
    result.at_most("bytes of the page", int(sizes.max()), LARGEST)
    result.data["loads"] = [{"there": a, "marked": b, "bytes": c} for a, b, c in found]
    result.save(chosen.out)


if __name__ == "__main__":
    main()
