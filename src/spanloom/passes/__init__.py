"""Two passes over a document: what a first one finds in it become columns for the features of the second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import by_name, lazily

if TYPE_CHECKING:
    from spanloom.passes.choosing import PassData as PassData
    from spanloom.passes.choosing import choose_passes as choose_passes
    from spanloom.passes.first import COLUMNS as COLUMNS
    from spanloom.passes.first import TEMPLATES as TEMPLATES
    from spanloom.passes.first import DocumentPass as DocumentPass
    from spanloom.passes.first import PassSettings as PassSettings
    from spanloom.passes.first import fit_pass as fit_pass
    from spanloom.passes.first import is_worth_two_passes as is_worth_two_passes
    from spanloom.passes.first import pass_of as pass_of

# module -> names; imported when first used, as a model that is used needs little of what trains it
_EXPORTS = by_name(
    {
        "spanloom.passes.choosing": "PassData choose_passes",
        "spanloom.passes.first": "COLUMNS TEMPLATES DocumentPass PassSettings fit_pass is_worth_two_passes pass_of",
    }
)

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
