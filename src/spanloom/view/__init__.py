"""Visualization of documents: mentions, of models or annotators, drawn below the text."""

from spanloom.view.page import to_html as to_html
from spanloom.view.picture import to_svg as to_svg
from spanloom.view.terminal import MIN_WIDTH as MIN_WIDTH
from spanloom.view.terminal import render as render
