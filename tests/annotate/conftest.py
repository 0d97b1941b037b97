"""The page of a running `spanloom annotate`, which the fixture `server` of a test file starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from annotate_helpers import Running
from page_helpers import turn_to

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def opened(pages: Callable[..., Page], server: Running) -> Callable[..., Page]:
    """Open the page as an annotator, at a document."""

    def open_(layer: str, document: str = "a", **settings: Any) -> Page:
        page = pages(f"{server.url}?layer={layer}", **settings)
        page.set_default_timeout(120_000)  # other tests may take all of the processor
        page.wait_for_selector("body[data-ready]")
        turn_to(page, document)
        return page

    return open_
