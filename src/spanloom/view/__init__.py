"""Visualization of documents: mentions, of models or annotators, drawn below the text."""

from spanloom.view.page import to_html
from spanloom.view.picture import to_svg
from spanloom.view.terminal import MIN_WIDTH, render

__all__ = ["MIN_WIDTH", "render", "to_html", "to_svg"]
