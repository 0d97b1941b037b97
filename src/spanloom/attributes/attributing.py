"""Attributes from what was learned, and by rules where nothing was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from spanloom.attributes.lexicon import Cues
from spanloom.attributes.marking import ALL, Rules, blocks, marked
from spanloom.attributes.model import AttributeModel
from spanloom.document import Document
from spanloom.model.stages import Stage

NONE: Final = "none"


def attributing(
    stages: Sequence[Stage], names: Sequence[str] | str | None = None, language: str | None = None,
    cues: Cues | None = None,
) -> Callable[[Iterable[Document]], Iterator[Document]]:  # fmt: skip
    """Return a function that gives mentions of documents their attributes.

    Args:
        stages: of a model; one of them may be what was learned.
        names: attributes, as a list or joined by commas; those that were not learned are marked by rules. ``all`` for
            what was learned and all that rules mark; ``none`` or ``None`` for none.
        language, cues: of the rules, as of `mark`.

    Raises:
        UsageError: an unknown language, or an attribute that was not learned and that no cues mark.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names or ())
    if given in ([], [NONE]):
        return iter
    stage = next((one for one in stages if isinstance(one, AttributeModel)), None)
    learned = () if stage is None else stage.attributes
    rules = Rules(language, cues)
    chosen = tuple(dict.fromkeys((*learned, *rules.attributes) if given == [ALL] else given))
    own = [name for name in chosen if name in learned]
    others = rules.chosen([name for name in chosen if name not in learned])

    def run(documents: Iterable[Document]) -> Iterator[Document]:
        found: Iterable[Document] = documents
        if stage is not None and own:
            found = chain.from_iterable(stage.run(block, own) for block in blocks(documents))
        return marked(found, rules, others) if others else iter(found)

    return run
