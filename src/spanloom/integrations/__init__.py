"""Spanloom inside other libraries: spaCy, Hugging Face `datasets`, scikit-learn. Each comes with an extra of its name.

Nothing is imported here, so that each of them is loaded only where it is used.
"""

from __future__ import annotations

__all__: list[str] = []
