"""Annotation in Chromium that is killed at random moments, the browser and the server in turn: nothing saved is lost.

    python benchmarks/annotate_kills.py [--kills 100]

It needs Playwright and a Chromium on the path; no corpora. A session of keys marks words with three types, takes some
of that back, turns to other documents and pauses. In each round `kill -9` hits all processes of Chromium, or the
server, at a random moment; then both are started again on the same store. What the page had shown as saved has to be
there, and nothing else but the step that was under way; the store has to be sound; and the page has to open at the
position that it had saved last. All words differ, so that the word at the cursor tells where it is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Timer
from typing import Any
from urllib.request import ProxyHandler, build_opener

from playwright.sync_api import Error, Page, Playwright, Request, sync_playwright

from common import Result, options, say
from spanloom import Document, read, write
from spanloom.annotate.history import events
from spanloom.formats.store import Store
from spanloom.text import prepare

LAYER = "ann"
TYPES = ("problem", "finding", "drug")
DOCUMENTS, SENTENCES, WORDS = 3, 12, 10
FIRST, LAST = 0.05, 2.5  # seconds from the page's opening to the kill
PATIENCE = 120.0  # seconds in which a process has to start
TURN, TAKE_BACK, PAUSE = 0.1, 0.3, 0.3  # shares of steps
LONGEST_PAUSE = 0.8  # seconds; the page saves its position half a second after a move
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SETTLE = 50  # milliseconds
NO_ANSWER = "the server does not answer"
_SHOWN = """() => [
    document.getElementById("problem").innerText,
    [...document.querySelectorAll("#detail dd")].slice(0, 2).map((one) => one.innerText),
]"""
_COUNTS = "[...document.querySelectorAll('#types button')].map((one) => one.innerText.trim().split(/\\s+/))"
_TURNED = "said => document.body.dataset.shown || document.getElementById('problem').innerText.includes(said)"
BROKEN = (
    "what was shown as saved and is lost", "what is there and was not done", "stores that are not sound",
    "pages that open elsewhere", "pages that show something else",
)  # fmt: skip
Marked = tuple[int, str, str]  # number of the document, type, and characters as the page writes them


class Session:
    """A store, and what the page has shown of it.

    Args:
        folder: of the store and of the browser's profile.
        chance: draws every step.
        counts: name -> how many.
    """

    def __init__(self, folder: Path, chance: Random, counts: Counter[str]) -> None:
        self.store, self._profile = folder / "notes.store", folder / "profile"
        self._data, self._chance, self._counts = folder / "notes.jsonl", chance, counts
        self.found: list[str] = []
        self._saved: set[Marked] = set()
        self._open: set[Marked] = set()  # of what the page is about to say whether it is there
        self._positions: list[tuple[int, int]] = []  # saved last, and sent since

    def round(self, playwright: Playwright, chromium: str, victim: str) -> None:
        """Start both, look at what is there, go on until the kill, and look at the store."""
        server, address = self._serve()
        browser, port = self._browse(chromium)
        killed = Event()
        try:
            self._answering(server, address)
            page = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port()}").contexts[0].new_page()
            page.set_default_timeout(PATIENCE * 1000)
            page.on("request", self._sent)
            page.on("requestfinished", self._answered)
            page.goto(address)
            page.wait_for_selector("body[data-ready]")
            self._compare_page(page)

            def kill() -> None:
                killed.set()
                _kill(browser if victim == "browser" else server)

            timer = Timer(self._chance.uniform(FIRST, LAST), kill)
            timer.start()
            try:
                while not killed.is_set():
                    self._step(page)
                page.wait_for_timeout(SETTLE)  # what the page has sent is told
            except Error:
                if not killed.is_set():
                    raise
            finally:
                timer.cancel()
                timer.join()
        finally:
            _kill(browser)
            _kill(server)
        self._counts[f"kills of the {victim}"] += 1
        self._counts["kills within a step"] += bool(self._open)
        self._compare_store()

    def broken(self, name: str, what: str) -> None:
        """Count what should not be."""
        self._counts[name] += 1
        self.found.append(f"{name}: {what}")
        say(self.found[-1])

    def _serve(self) -> tuple[subprocess.Popen[bytes], str]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        data = [self.store] if self.store.exists() else [self._data, "--output", self.store]
        line = [
            sys.executable,
            "-m",
            "spanloom.cli",
            "annotate",
            *data,
            "--port",
            port,
            "--annotator",
            LAYER,
            "--quiet",
        ]
        kinds = [word for name in TYPES for word in ("--type", name)]
        return subprocess.Popen([*map(str, line), *kinds], start_new_session=True), f"http://127.0.0.1:{port}/"

    def _answering(self, server: subprocess.Popen[bytes], address: str) -> None:
        opener = build_opener(ProxyHandler({}))

        def asked() -> bool:
            if server.poll() is not None:
                raise SystemExit(f"the server ended with exit code {server.returncode}")
            with suppress(OSError):
                opener.open(f"{address}api/store").close()
                return True
            return False

        _until(asked, "the server")

    def _browse(self, chromium: str) -> tuple[subprocess.Popen[bytes], Callable[[], str]]:
        """Start Chromium on the profile of the last round; return it, and what gives the port to drive it by."""
        told = self._profile / "DevToolsActivePort"
        told.unlink(missing_ok=True)
        line = [chromium, *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={self._profile}", "about:blank"]
        process = subprocess.Popen(line, start_new_session=True, stderr=subprocess.DEVNULL)

        def port() -> str:
            _until(lambda: told.exists() and bool(told.read_text().strip()), "Chromium")
            return told.read_text().split()[0]

        return process, port

    def _sent(self, request: Request) -> None:
        if request.url.endswith("api/position"):
            self._positions.append(_position(request))

    def _answered(self, request: Request) -> None:
        if request.url.endswith("api/position") and _position(request) in self._positions:
            del self._positions[: self._positions.index(_position(request))]

    def _step(self, page: Page) -> None:
        if self._chance.random() < TURN:
            number = self._chance.randint(1, DOCUMENTS)
            page.evaluate("delete document.body.dataset.shown")
            page.select_option("#documents", str(number))
            page.wait_for_function(_TURNED, arg=NO_ANSWER)
            if page.get_attribute("body", "data-shown") is None:
                return
            self._counts["turns to a document"] += 1
        if self._chance.random() < PAUSE:
            page.wait_for_timeout(1000 * self._chance.uniform(0, LONGEST_PAUSE))
        way = self._chance.choice(("ArrowRight", "ArrowRight", "ArrowLeft"))
        self._press(page, "Escape", *[way] * self._chance.randint(1, 9))
        self._press(page, *["Shift+ArrowRight"] * self._chance.randint(0, 2))
        number = int(page.evaluate("document.body.dataset.shown"))
        kind = self._chance.randrange(len(TYPES))
        self._open = {(number, TYPES[kind], "")}
        problem, shown = self._press(page, str(kind + 1))
        if problem:
            if NO_ANSWER not in problem:  # marked already: the server refused it
                self._open = set()
                self._counts["refused"] += 1
            return
        self._open = set()
        if shown[:1] != [TYPES[kind]]:
            self.broken("pages that show something else", f"{shown} after {TYPES[kind]} was marked")
            return
        marked = number, shown[0], shown[1]
        self._saved.add(marked)
        self._counts["mentions shown as saved"] += 1
        if self._chance.random() < TAKE_BACK:
            self._open = {marked}
            problem, shown = self._press(page, self._chance.choice("xu"))
            if not problem and not shown:
                self._saved.discard(marked)
                self._open = set()
                self._counts["mentions shown as taken back"] += 1

    def _press(self, page: Page, *keys: str) -> tuple[str, list[str]]:
        """Press keys, and return the problem and the chosen mention that are shown when all is saved."""
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector("#text:not([aria-busy=true])")
        problem, shown = page.evaluate(_SHOWN)
        return problem, shown

    def _compare_store(self) -> None:
        """Compare the store with what was shown; from now on it is what has to stay."""
        with Store(self.store) as store:
            [[sound]] = store.connection.execute("PRAGMA integrity_check")
            if sound != "ok":
                self.broken("stores that are not sound", sound)
            there = _marked(store)
            told = len(list(events(store)))
            position = store.connection.execute("SELECT document, start FROM positions").fetchone()
        if there and len(list(read(self.store, layer=LAYER))) != DOCUMENTS:
            self.broken("stores that are not sound", "documents are missing")
        for lost in self._saved - there - self._open:
            self.broken("what was shown as saved and is lost", str(lost))
        added = there - self._saved
        if len(added) > 1 or any(not {one, (*one[:2], "")} & self._open for one in added):
            self.broken("what is there and was not done", str(sorted(added)))
        if self._positions and tuple(position or ()) not in self._positions:
            self.broken("pages that open elsewhere", f"{position} is stored, {self._positions} were sent")
        self._saved, self._open, self._positions = there, set(), [position] if position else []
        self._counts["changes in the history"] = told

    def _compare_page(self, page: Page) -> None:
        """Compare what the page opens with the store: the document, the word at the cursor and the mentions."""
        number, word = page.evaluate("[+document.body.dataset.shown, document.getElementById('status').innerText]")
        with Store(self.store) as store:
            document = prepare(Document(store.record(number)["text"]))
        assert document.tokens is not None
        starts = {document.text[start:end]: int(start) for start, end in document.tokens}
        place, last = (number, starts.get(word.partition(":")[0])), self._positions[0] if self._positions else (1, 0)
        if place != last:
            self.broken("pages that open elsewhere", f"the page opens {place}, {last} was saved last")
        drawn = {row[0]: int(row[1]) for row in page.evaluate(_COUNTS)}
        stored = Counter(kind for one, kind, _ in self._saved if one == number)
        if drawn != {name: stored[name] for name in TYPES}:
            self.broken("pages that show something else", f"{drawn} instead of {stored}")


def _marked(store: Store) -> set[Marked]:
    return {
        (number, value["type"], ", ".join(f"{start}–{end}" for start, end in value["spans"]))
        for number in store.numbers().values()
        for key, value in store.state(number, LAYER).values.items()
        if key[0] == "m"
    }


def _position(request: Request) -> tuple[int, int]:
    sent: Any = request.post_data_json
    return sent["document"], sent["start"]


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _until(met: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not met():
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not start within {PATIENCE:.0f} s")
        time.sleep(0.02)


def texts() -> list[Document]:
    """Documents in which no two words are the same."""
    words = iter(range(DOCUMENTS * SENTENCES * WORDS))
    lines = [" ".join(f"word{next(words):03}" for _ in range(WORDS)) for _ in range(DOCUMENTS * SENTENCES)]
    parts = [lines[i : i + SENTENCES] for i in range(0, len(lines), SENTENCES)]
    return [Document("\n\n".join(part), f"note{i}") for i, part in enumerate(parts, 1)]


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=100, help="how many [100]")


def main() -> None:
    """Annotate, kill, start again, compare."""
    chosen = options("annotate_kills", __doc__, _more, corpora=False)
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("there is no chromium on the path")
    result, counts = Result("Annotation in the browser that is killed", chosen.seed), Counter[str]()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, sync_playwright() as playwright:
        write(texts(), Path(folder) / "notes.jsonl")
        session = Session(Path(folder), Random(chosen.seed), counts)
        for number in range(chosen.kills):
            session.round(playwright, chromium, ("browser", "server")[number % 2])
            say(f"{number + 1} kills, {counts['mentions shown as saved']} mentions shown as saved")
    for name in BROKEN:
        result.at_most(name, counts[name], 0)
    done = (
        "kills of the browser", "kills of the server", "kills within a step", "mentions shown as saved",
        "mentions shown as taken back", "turns to a document", "changes in the history",
    )  # fmt: skip
    result.table(
        "What was done in the browser, and killed with kill -9", ["what", "count"],
        [[name, counts[name]] for name in done],
        "After each kill both were started again; a step that was under way may be in the store or not.",
    )  # fmt: skip
    result.data.update(counts=counts, found=session.found)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
