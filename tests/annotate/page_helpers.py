"""What tests do on the page of `spanloom annotate` in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spanloom import read

if TYPE_CHECKING:
    from playwright.sync_api import Page

RECT = """([word, from]) => {
    const walker = document.createTreeWalker(document.getElementById("text"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const place = node.data.indexOf(word);
        if (place < 0 || !from) { if (place >= 0) from = 1; else continue; }
        const range = document.createRange();
        range.setStart(node, place);
        range.setEnd(node, place + word.length);
        const box = range.getBoundingClientRect();
        return [box.left, box.right, (box.top + box.bottom) / 2];
    }
    return null;
}"""


def turn_to(page: Page, document: str) -> None:
    """Open a document, and wait until it is drawn, also if it is the one that is open."""
    page.evaluate("delete document.body.dataset.shown")
    [number] = page.select_option("#documents", label=document)
    page.wait_for_selector(f"body[data-shown='{number}'] #text .cur", state="attached")


def until(page: Page, met: Callable[[], bool]) -> None:
    """Wait until a condition is met."""
    for _ in range(3000):
        if met():
            return
        page.wait_for_timeout(20)
    pytest.fail("the condition was not met")


def drag(page: Page, first: str, last: str, key: str = "", beyond: float = -0.5) -> None:
    left, _, top = page.evaluate(RECT, [first, 1])
    _, right, bottom = page.evaluate(RECT, [last, 1])
    if key:
        page.keyboard.down(key)
    page.mouse.move(left + 1, top)
    page.mouse.down()
    page.mouse.move((left + right) / 2, top)
    page.mouse.move(right + beyond, bottom, steps=2)
    page.mouse.up()
    if key:
        page.keyboard.up(key)
    settle(page)


def settle(page: Page) -> None:
    """Wait until all actions are saved, and shown."""
    page.wait_for_selector("#text:not([aria-busy=true])")


def marked(folder: Path, layer: str, id: str = "a") -> list[tuple[str, str]]:
    [document] = [one for one in read(folder / "a.store", layer=layer) if one.id == id]
    return sorted((one.type, "|".join(document.text[slice(*span)] for span in one.spans)) for one in document.mentions)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
    settle(page)
