"""Every page of the built site, and the README: contrast, order of headings, descriptions of pictures, and width.

In light on a desktop and in dark on a phone, after WCAG 2.2: 1.4.3 (contrast), 1.3.1 (headings), 1.1.1 (pictures) and
1.4.10 (nothing is wider than the screen). One page of each kind also has all the rules of axe-core.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
MAKE = runpy.run_path(str(ROOT / "docs" / "screenshots" / "make.py"))
# A page's defects, each with what it is and where.
DEFECTS = """
() => {
  const found = [];
  const heads = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((one) => one.checkVisibility());
  const levels = heads.map((one) => Number(one.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) found.push(["titles", String(levels)]);
  levels.forEach((level, i) => {
    if (level > (levels[i - 1] ?? 0) + 1 || !heads[i].textContent.trim()) found.push(["heading", heads[i].outerHTML]);
  });
  for (const image of document.querySelectorAll("img"))
    if (!image.alt && image.closest("article, body > p")) found.push(["picture", image.src]);
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) found.push(["width", String(width)]);

  // contrast: the colour of each text over the backgrounds of what holds it
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const color = (name) => {
    if (!known.has(name)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = name;
      canvas.fillRect(0, 0, 1, 1);
      known.set(name, [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255));
    }
    return known.get(name);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, i) => value * a + below[i] * (1 - a));
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => rgb.reduce((sum, value, i) => sum + linear(value) * [0.2126, 0.7152, 0.0722][i], 0);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const done = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const holder = node.parentElement;
    if (!node.data.trim() || done.has(holder)) continue;
    done.add(holder);
    if (!holder.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(holder);
    const layers = [];
    for (let up = holder; up; up = up.parentElement) layers.unshift(color(getComputedStyle(up).backgroundColor));
    const back = layers.reduce((below, layer) => over(layer, below), [1, 1, 1]);
    const [low, high] = [luminance(back), luminance(over(color(style.color), back))].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.push(["contrast", `${ratio.toFixed(2)} ${node.data.trim().slice(0, 40)}`]);
  }
  return found;
}
"""
# of each kind: the first, an index, the search, a long one with classes, one with tables, with sessions, and a record
KINDS = (
    *("docs/index", "genindex", "search", "docs/api", "docs/formats", "docs/tutorials/recognize"),
    "benchmarks/results/genia",
)
LOOKS: list[tuple[Literal["light", "dark"], int]] = [("light", 1200), ("dark", MAKE["PHONE"])]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(ROOT / "docs"), str(ROOT), str(folder)]
    subprocess.run(command, check=True, cwd=ROOT)
    return folder


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page()
    page.route("http*://**", lambda asked: asked.abort())
    yield page
    page.close()


def defects(opened: Page) -> list[tuple[str, str, str]]:
    """In each look, as it, what a defect is and where."""
    found = []
    for scheme, width in LOOKS:
        opened.emulate_media(color_scheme=scheme)
        opened.set_viewport_size({"width": width, "height": 800})
        found += [(scheme, *defect) for defect in opened.evaluate(DEFECTS)]
    return found


def test_pages_of_the_site(opened: Page, site: Path) -> None:
    # the first leads to another page, and the results of a search are made of what is searched
    pages = [page for page in site.rglob("*.html") if page not in (site / "index.html", site / "search.html")]
    assert len(pages) > 100
    found = []
    for page in sorted(pages):
        opened.goto(page.as_uri())
        found += [(page.relative_to(site).as_posix(), *defect) for defect in defects(opened)]
    assert found == []


@pytest.mark.parametrize("width", [1200, MAKE["PHONE"]])
def test_rules_of_accessibility(opened: Page, site: Path, violations: Callable[..., list[str]], width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 800})
    found = {}
    for name in KINDS:
        opened.goto((site / f"{name}.html").as_uri())
        found[name] = violations(opened)
    assert found == {name: [] for name in KINDS}


def test_the_method_has_four_printed_pages(opened: Page, site: Path) -> None:
    opened.goto((site / "docs" / "method.html").as_uri())
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "18mm")
    assert len(re.findall(rb"/Type\s*/Page\b", opened.pdf(format="A4", margin=margins))) == 4


def test_the_readme_as_a_package_index_shows_it(opened: Page, tmp_path: Path) -> None:
    body = MarkdownIt("commonmark").enable("table").render((ROOT / "README.md").read_text(encoding="utf-8"))
    style = (
        "html { color-scheme: light dark; background: Canvas; color: CanvasText; } body { overflow-wrap: anywhere; } "
        "pre, table { overflow-x: auto; display: block; } img { max-width: 100%; }"
    )
    head = f'<!DOCTYPE html><base href="{ROOT.as_uri()}/"><style>{style}</style>'
    (tmp_path / "readme.html").write_text(head + body, encoding="utf-8")
    opened.goto((tmp_path / "readme.html").as_uri())
    assert defects(opened) == []
    opened.set_viewport_size({"width": 1000, "height": 1000})
    first = opened.locator("body > :has(+ h2)").first  # picture, sentence, commands, Python and links are on one screen
    box = first.bounding_box()
    assert first.locator("a").count() > 3 and box is not None and box["y"] + box["height"] < 900
    assert opened.evaluate("[...document.images].filter((one) => !one.naturalWidth).map((one) => one.src)") == []


def test_defects_are_found(opened: Page) -> None:
    opened.set_viewport_size({"width": 360, "height": 800})
    opened.set_content(
        "<!DOCTYPE html><style>.a { color: #777; } .b { color: #767676; } .c { color: #888; font-size: 24px; } "
        ".d { background: #000; } .e { color: #333; } .f { color: #888; display: none; } .g { width: 400px; }</style>"
        '<h1>a</h1><h3>b</h3><h1>c</h1><p class="a">faint</p><p class="b">enough</p><p class="c">large</p>'
        '<p class="d"><b class="e">dark</b></p><p class="f">hidden</p><p><img src="data:,"></p>'
        '<div class="g">wide</div>'
    )
    found = opened.evaluate(DEFECTS)
    assert [kind for kind, _ in found] == ["titles", "heading", "picture", "width", "contrast", "contrast"]
    assert found[1][1] == "<h3>b</h3>" and found[4][1].endswith("faint") and found[5][1].endswith("dark")
