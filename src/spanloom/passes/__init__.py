"""Two passes over a document: what a first one finds in it become columns for the features of the second."""

from spanloom.passes.choosing import PassData, choose_passes
from spanloom.passes.first import COLUMNS, TEMPLATES, DocumentPass, PassSettings, fit_pass, is_worth_two_passes, pass_of

__all__ = [
    "COLUMNS",
    "TEMPLATES",
    "DocumentPass",
    "PassData",
    "PassSettings",
    "choose_passes",
    "fit_pass",
    "is_worth_two_passes",
    "pass_of",
]
