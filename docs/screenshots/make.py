"""Takes the screenshots of docs/screenshots: ``python docs/screenshots/make.py [NAME ...]``.

It needs the extra ``test``, Pillow (which comes with Matplotlib), nbconvert (for the notebook) and a Chromium (or
Chrome) on the path. With names, it takes only those of `KINDS`. Beside the pictures, ``sources.json`` keeps a hash of
each page, so that a test can tell a picture of an older page without comparing pixels, which differ with fonts and
browsers. The pages of a trained model, whose figures differ with the machine, have none, and neither have the
documentation and the notebook, whose text changes often.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from markdown_it import MarkdownIt
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.evaluate import evaluate
from spanloom.formats import read
from spanloom.recognize import Recognizer
from spanloom.text import prepare
from spanloom.view import to_html
from spanloom.view.error_page import error_page

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SOURCES = FOLDER / "sources.json"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


class Shot(NamedTuple):
    """A picture of a page.

    Args:
        html: the page.
        height: of the window, in pixels.
        dark: whether the browser prefers dark.
        top: a CSS selector of what stands at the top; the page's own when empty.
        width: of the window.
    """

    html: str
    height: int
    dark: bool = False
    top: str = ""
    width: int = 1000


PHONE = 360  # pixels
SENTENCE = "The patient has left and right lower lobe infiltrates without chest pain or fever."


def find(text: str, *parts: str) -> list[tuple[int, int]]:
    """Where parts of a text stand; each once in it."""
    return [(text.index(part), text.index(part) + len(part)) for part in parts]


def crossing(scores: tuple[float, ...] = (0.97, 0.41, 0.88, 0.63, 0.99)) -> Document:
    """A sentence with three mentions that skip words and cross (Muis and Lu 2016, Figure 1), and two more."""
    text = "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood."
    hernia, laceration = find(text, "hernia", "laceration")
    found = [
        Mention("disorder", find(text, "hiatal hernia"), head=hernia, concepts=("SPL:0042",)),
        Mention("disorder", [hernia, *find(text, "in distal esophagus")], head=hernia),
        Mention("disorder", [laceration, *find(text, "esophagus")], head=laceration),
        Mention("disorder", find(text, "vertical laceration", "distal esophagus"), head=laceration),
        Mention("anatomy", find(text, "distal esophagus")),
    ]
    pairs = zip(found, scores, strict=True)
    return Document(text, id="endoscopy", mentions=[mention.replace(score=score) for mention, score in pairs])


def strokes() -> Document:
    """Mentions that share their beginning and skip what is between."""
    text = "Infarctions either watershed or embolic in left and right frontal lobes."
    found = [
        Mention("disorder", find(text, "Infarctions", "watershed"), score=0.91),
        Mention("disorder", find(text, "Infarctions", "embolic"), score=0.86),
        Mention("anatomy", find(text, "left", "frontal lobes"), score=0.72),
        Mention("anatomy", find(text, "right frontal lobes"), score=0.94),
    ]
    return Document(text, id="stroke", mentions=found)


def others() -> list[Document]:
    """Text without spaces, and text from right to left."""
    chinese, hebrew = "患者左侧及右侧下肢疼痛。", "כאב בחזה וקוצר נשימה"
    return [
        Document(
            chinese,
            id="Chinese",
            mentions=[
                Mention("disorder", find(chinese, "左侧", "下肢疼痛"), score=0.81),
                Mention("disorder", find(chinese, "右侧下肢疼痛"), score=0.93),
            ],
        ),
        Document(
            hebrew,
            id="Hebrew",
            mentions=[
                Mention("disorder", find(hebrew, "כאב בחזה"), score=0.95),
                Mention("disorder", find(hebrew, "קוצר נשימה"), score=0.9),
            ],
        ),
    ]


def errors() -> str:
    """The page of errors of a prediction with one error of several kinds."""
    gold = [prepare(crossing()), prepare(strokes())]
    one, two = gold
    predicted = [
        one.copy(
            mentions=[
                one.mentions[0],
                one.mentions[1].replace(spans=find(one.text, "hernia and vertical laceration in distal esophagus")),
                one.mentions[2].replace(spans=find(one.text, "laceration")),
                one.mentions[3],
                one.mentions[4].replace(type="disorder"),
            ]
        ),
        two.copy(mentions=[two.mentions[0], *two.mentions[2:], Mention("disorder", find(two.text, "left"), score=0.3)]),
    ]
    gold = [document.copy(mentions=[m.replace(score=None) for m in document.mentions]) for document in gold]
    return error_page(
        gold,
        predicted,
        evaluate(gold, predicted, bootstrap=0),
        title="Errors of a prediction",
    )


def shots() -> dict[str, Shot]:
    """The pictures, by the names of their files."""
    page = to_html([crossing(), strokes(), *others()], title="Mentions that nest, cross and skip words")
    return {
        "view-light.png": Shot(page, 1060),
        "view-dark.png": Shot(page, 1060, dark=True),
        "errors.png": Shot(errors(), 1080, top="#errors"),
        "errors-phone.png": Shot(errors(), 780, dark=True, top="#errors", width=PHONE),
    }


# of the documentation: a page, width and height of the window, and whether the browser prefers dark
SITE = {
    "site.png": ("docs/index", 1200, 900, False),
    "site-dark.png": ("docs/tutorials/recognize", 1200, 900, True),
    "site-phone.png": ("docs/index", PHONE, 780, False),
    "site-model.png": ("docs/models/shared", 1200, 900, False),
}
README = "readme.png"
NOTEBOOK = "notebook.png"


def source(shot: Shot) -> str:
    """A hash of a page."""
    return hashlib.sha256(shot.html.encode()).hexdigest()


def executable() -> str | None:
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        arguments = [*ARGUMENTS, "--force-prefers-reduced-motion"]  # a picture of an animation has all of its text
        started = playwright.chromium.launch(executable_path=executable(), args=arguments)
        yield started
        started.close()


# a busy machine paints what was scrolled to some time later
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def take(started: Browser, shot: Shot, path: Path) -> None:
    """Write a picture."""
    scheme = "dark" if shot.dark else "light"
    tab = started.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=scheme)
    tab.set_content(shot.html)
    _keep(tab, shot, path)


def _keep(tab: Page, shot: Shot, path: Path) -> None:
    if shot.top:
        tab.evaluate("selector => document.querySelector(selector).scrollIntoView()", shot.top)
        tab.evaluate(PAINTED)
    tab.screenshot(path=path)
    tab.close()
    shrink(path)


def shrink(path: Path) -> None:
    """Write a picture again with 256 colours, rare ones too, in half of the bytes."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def take_served(started: Browser, model: Path, path: Path) -> None:
    """Write a picture of the page of `spanloom serve`, with a mention chosen."""
    command = [sys.executable, "-m", "spanloom.cli", "serve", f"notes={model}", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+/", server.stderr.readline())
            assert address is not None
            tab = started.new_page(viewport={"width": 1200, "height": 900})
            tab.goto(address[0])
            tab.fill("#text", SENTENCE)
            tab.click("button[type=submit]")
            tab.locator("#marked .b").first.wait_for()
            tab.locator("#marked .b.g").first.click(force=True)  # a gap, so a mention that skips words
            tab.wait_for_timeout(2000)
            tab.screenshot(path=path)
            shrink(path)
        finally:
            server.terminate()


def take_model(started: Browser) -> None:
    """Pictures of what a model trained on the bundled notes says of itself."""
    with TemporaryDirectory() as folder:
        model, page = Path(folder, "model"), Path(folder, "errors.html")
        recognizer = Recognizer("shared", "clinical", vocabulary=str(clinical() / "vocabulary.tsv"), epochs=40)
        recognizer.fit(read(clinical() / "train"), dev=read(clinical() / "dev")).save(model)
        command = [sys.executable, "-m", "spanloom.cli", "evaluate", "--quiet", "--model", str(model)]
        command += [str(clinical() / "test"), "--html", str(page)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        opened = page.read_text("utf-8").replace('<details class="more">', '<details class="more" open>')
        take(started, Shot(opened, 820, top=".plots"), FOLDER / "curves.png")
        take_served(started, model, FOLDER / "serve.png")


def take_site(started: Browser) -> None:
    """Pictures of the documentation, and of the README as rendered Markdown."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(ROOT / "docs"), str(ROOT), folder]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
        for name, (page, width, height, dark) in SITE.items():
            visit(started, Path(folder, f"{page}.html"), Shot("", height, dark, width=width), FOLDER / name)
        body = MarkdownIt("commonmark").enable("table").render((ROOT / "README.md").read_text(encoding="utf-8"))
        style = (
            "body { max-width: 52rem; margin: 2rem auto; font: 16px/1.5 system-ui; } img { max-width: 100%; } "
            "table { border-collapse: collapse; } td, th { border: 1px solid #ddd; padding: .2rem .6rem; } "
            "pre { background: #f4f4f4; padding: .6rem; overflow-x: auto; }"
        )
        readme = Path(folder, "readme.html")
        readme.write_text(
            f'<!DOCTYPE html><base href="{ROOT.as_uri()}/"><style>{style}</style>{body}', encoding="utf-8"
        )
        visit(started, readme, Shot("", 1000), FOLDER / README)


def take_notebook(started: Browser) -> None:
    """A picture of a notebook as Jupyter shows it, from the documents that a model found on."""
    notebook = ROOT / "docs" / "notebooks" / "first_steps.ipynb"
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", folder, str(notebook)]
        subprocess.run(command, check=True)
        visit(started, Path(folder, "first_steps.html"), Shot("", 1000, top="#Find-mentions"), FOLDER / NOTEBOOK)


def visit(started: Browser, page: Path, shot: Shot, path: Path) -> None:
    """Write a picture of a page that is a file and has others beside it."""
    scheme = "dark" if shot.dark else "light"
    tab = started.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=scheme)
    tab.route("http*://**", lambda asked: asked.abort())  # the same picture without network
    tab.goto(page.as_uri())
    _keep(tab, shot, path)


def take_pages(started: Browser) -> None:
    """Pictures of the pages that need no model, and their hashes."""
    wanted = shots()
    for name, shot in wanted.items():
        take(started, shot, FOLDER / name)
    SOURCES.write_text(json.dumps({name: source(shot) for name, shot in wanted.items()}, indent=2) + "\n", "utf-8")


KINDS: dict[str, Callable[[Browser], None]] = {
    "pages": take_pages,
    "site": take_site,
    "notebook": take_notebook,
    "model": take_model,
}

if __name__ == "__main__":
    with browser() as chromium:
        for kind in sys.argv[1:] or KINDS:
            KINDS[kind](chromium)
