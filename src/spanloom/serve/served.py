"""The models that are served: loaded once, found by name alone, the same for all requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanloom.document import Document, Mention, Span, align
from spanloom.errors import UsageError
from spanloom.model.protocol import MentionModel, Saved, considers, finds_mentions
from spanloom.modelfile import read_digest
from spanloom.models import explain, load, locate
from spanloom.recognize import Recognizer
from spanloom.recognize.expanding import expanded

if TYPE_CHECKING:
    from spanloom.scoring.explanation import Explanation

_SAMPLE = "No chest pain, but dyspnea. 无关节疼痛。"  # what models are tried on


@dataclass(frozen=True, slots=True)
class Served:
    """A model with its name.

    Args:
        name: what requests call it.
        model: trained. Using it changes nothing.
        folder: that it was loaded from, from which another process loads it again.
        encoder: the folder of the encoder that it names, if it names one and that was given.
        version: its name with the beginning of its digest, so that another model of this name has another version.
    """

    name: str
    model: MentionModel
    folder: str = ""
    encoder: str | None = None
    version: str = ""

    def __reduce__(self) -> tuple[Callable[[str, str, str | None], Served], tuple[str, str, str | None]]:
        return _opened, (self.name, self.folder, self.encoder)

    @property
    def kind(self) -> str:
        """The kind of the model."""
        return self.model.kind

    @property
    def scores(self) -> bool:
        """True if its mentions have probabilities."""
        return "scores" in self.model.capable

    @property
    def considers(self) -> bool:
        """True if `others` can be asked for."""
        return considers(self.model)

    def suggested(self, document: Document, rejected: Document) -> tuple[Document, Document]:
        """A document with its own mentions, which stay, and what goes with them; and with what else is considered.

        Args:
            document: with mentions that were marked; those of types that the model does not know, or that are not of
                whole tokens of one sentence, are left out.
            rejected: the same with mentions that were rejected.

        Raises:
            DataError: the model cannot hold the mentions that were marked.
        """
        rules: dict[str, Any] = {}
        if isinstance(self.model, Recognizer) and not self.model.fitted.structure.heads:
            known = self.model.types_
            marked = [one.mention for one in align(document) if one.sentence >= 0 and one.mention.type in known]
            document = document.copy(mentions=marked)
            there = {mention.key for mention in marked}
            no = [mention for mention in rejected.mentions if mention.type in known and mention.key not in there]
            rules = {"constraints": {"keep": True, "forbid": [rejected.copy(mentions=no)]}}
        [found] = self.model.stream([document], **rules)
        [others] = self.model.alternatives([document], **rules) if considers(self.model) else [found.copy(mentions=[])]
        return found, others

    def stream(self, documents: Iterable[Document], threshold: float = 0.0, expand: bool = False) -> Iterator[Document]:
        """Documents with the mentions that the model finds, in place of their own; lazily, in batches.

        Args:
            documents: of any number; where reading them raises, so does this.
            threshold: leave out mentions with a lower score; 0 for a model that gives no scores.
            expand: whether the mentions that coordinated ones stand for are added.
        """
        found = self.model.stream(documents, **({"threshold": threshold} if self.scores else {}))
        return expanded(found, getattr(self.model, "second_", None)) if expand else found

    def others(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Documents with mentions that are considered, but not found; without mentions if `considers` is false."""
        if considers(self.model):
            return self.model.alternatives(documents)
        return (document.copy(mentions=[]) for document in documents)

    def explain(self, document: Document, mention: Mention) -> Explanation:
        """Explain why the model finds a mention of a document, or does not.

        Raises:
            UsageError: the model cannot hold the mention.
        """
        [found] = explain(self.model, document, [mention])
        return found

    def warm_up(self) -> None:
        """Load whatever the first request would have to wait for."""
        document = Document(_SAMPLE, mentions=[Mention(self.model.types_[0], (Span(0, 2),))])
        own = replace(self, model=copy(self.model))
        vars(own.model)["profile_"] = None  # no domain-shift warning about the sample
        [found] = own.stream([document])
        for _ in own.others([document]):
            pass
        with suppress(UsageError):  # a model that cannot hold the mention, or explain it, is as warm as it gets
            own.explain(found, (found.mentions or document.mentions)[0])


def open_models(arguments: Iterable[str], encoder: str | None = None) -> dict[str, Served]:
    """Models by name, in their order, ready for requests.

    Args:
        arguments: folders, whose names become those of the models; or ``NAME=FOLDER``.
        encoder: the folder of the encoder that models with adapters name, where it is not found without.

    Raises:
        ModelError: no model, or a damaged one.
        UsageError: two models of one name, or one that finds no mentions.
    """
    found: dict[str, Served] = {}
    for argument in arguments:
        name, _, folder = argument.partition("=")
        if not (name and folder) or Path(argument).exists():
            name, folder = Path(argument).resolve().name or argument, argument
        if name in found:
            raise UsageError(f"two models are called {name!r}; give one another name: NAME={folder}")
        found[name] = _opened(name, folder, encoder)
    return found


def _opened(name: str, folder: str, encoder: str | None) -> Served:
    version = f"{name}-{read_digest(locate(folder))[:12]}"
    found = replace(served(name, load(folder, encoder=encoder), folder), encoder=encoder, version=version)
    found.warm_up()
    return found


def served(name: str, model: Saved, folder: str = "") -> Served:
    """A model under a name.

    Raises:
        UsageError: it finds no mentions.
    """
    if not finds_mentions(model):
        place = folder or name
        raise UsageError(f"{place} is a {type(model).__name__}, which finds no mentions; name a model that does")
    # a request is one piece of work: processes are for different requests
    return Served(name, model.set_params(n_jobs=1), folder)
