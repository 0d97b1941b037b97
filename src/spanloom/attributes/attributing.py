"""Attributes from what was learned, and by rules where nothing was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from spanloom.attributes.lexicon import Cues
from spanloom.attributes.marking import ALL, Rules, marked
from spanloom.attributes.model import AttributeModel
from spanloom.document import Document

__all__ = ["NONE", "attributing"]

NONE: Final = "none"


def attributing(
    stage: AttributeModel | None, names: Sequence[str] | str | None = None, language: str | None = None,
    cues: Cues | None = None,
) -> Callable[[Iterable[Document]], Iterator[Document]]:  # fmt: skip
    """Return a function that gives mentions of documents their attributes.

    Args:
        stage: what was learned; ``None`` for nothing.
        names: attributes, as a list or joined by commas; those that were not learned are marked by rules. ``all`` for
            what was learned and all that rules mark; ``none`` for none; ``None`` for what was learned.
        language, cues: of the rules, as of `mark`.

    Raises:
        UsageError: an unknown language, or an attribute that was not learned and that no cues mark.
    """
    learned = () if stage is None else stage.attributes
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rules = None if given is None or given == [NONE] else Rules(language, cues)
    others: tuple[str, ...] = ()
    if rules is None:
        own = list(learned if given is None else ())
    else:
        wanted = (*learned, *rules.attributes) if given == [ALL] else given or ()
        own = [name for name in dict.fromkeys(wanted) if name in learned]
        others = rules.chosen([name for name in wanted if name not in learned])

    def run(documents: Iterable[Document]) -> Iterator[Document]:
        found = iter(documents) if stage is None or not own else stage.run(documents, own)
        return marked(found, rules, others) if rules is not None and others else found

    return run
