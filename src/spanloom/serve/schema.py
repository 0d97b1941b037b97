"""Requests and answers as pydantic models: the OpenAPI page is made of them, and tests hold answers to them.

The fields of a record are defined in `spanloom.formats.record` alone: `Record` and `MentionRecord` are made of its
tables. A record that comes in is read by `spanloom.formats.from_record`, as a line of a file is, whose messages are
better than those of a schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from spanloom.formats import record

Pair = Annotated[list[int], Field(min_length=2, max_length=2, description="start and end, half-open")]
Probability = Annotated[float, Field(ge=0, le=1)]


# kind of a field -> its type, and what an absent one is; `...` where it is required
_KINDS: dict[str, tuple[Any, Any]] = {
    "name": (str | None, None),
    "text": (str, ...),
    "pair": (Pair | None, None),
    "pairs": (list[Pair] | None, None),
    "spans": (Annotated[list[Pair], Field(min_length=1)], ...),
    "texts": (list[str], []),
    "probability": (Probability | None, None),
    "columns": (dict[str, list[str]], {}),
    "mentions": (list["MentionRecord"], []),
    "sections": (list["SectionRecord"], []),
    "attributes": (dict[str, bool | str], {}),
    "named probabilities": (dict[str, Probability], {}),
    "probabilities": (list[Probability], []),
    "object": (dict[str, Any], {}),
}


def _made(
    name: str, about: str, fields: Mapping[str, record.Field], config: ConfigDict | None = None
) -> type[BaseModel]:
    """The model of an object whose fields `spanloom.formats.record` describes."""
    found: dict[str, Any] = {}
    for key, (kind, description) in fields.items():
        type_, absent = _KINDS[kind]
        found[key] = (type_, Field(absent, description=description or None))
    return create_model(name, __doc__=about, __config__=config, __module__=__name__, **found)


class SectionRecord(BaseModel):
    """A named part of the text."""

    name: str
    span: Pair


if TYPE_CHECKING:
    MentionRecord = BaseModel
    Record = BaseModel
else:
    MentionRecord = _made(
        "MentionRecord", "A mention; offsets count Unicode characters from 0, the end is excluded.", record.MENTION
    )
    Record = _made(
        "Record",
        "A document; only `text` is required. Fields that are not known are kept in `meta`.",
        record.RECORD,
        ConfigDict(
            extra="allow", json_schema_extra={"examples": [{"text": "Infarctions, either watershed or embolic."}]}
        ),
    )


class Question(BaseModel):
    """A mention of a document, to be explained."""

    document: Record
    mention: MentionRecord


class FeaturePart(BaseModel):
    """A feature and what it adds to the score; below 0 it speaks against."""

    name: str
    score: float


class ContributionRecord(BaseModel):
    """Contribution of one role at one token."""

    token: int | None = Field(default=None, description="counted in the document; absent for what has no token")
    span: Pair | None = None
    text: str = ""
    role: str = Field(description="such as S, a mention starts")
    times: int = Field(description="how much more often the structure with the mention has it")
    score: float
    features: list[FeaturePart] = Field(description="the strongest first")


class CandidateRecord(BaseModel):
    """A concept that a linker compared a mention with."""

    concepts: list[str] = Field(description="identifiers; none for a mention that is linked to nothing")
    name: str = Field(description="the first of the concept")
    way: str = Field(description="how it came to be a candidate")
    score: float | None = Field(description="of the best derivation with it")
    features: list[FeaturePart]


class ExplanationRecord(BaseModel):
    """Explanation of why a model finds a mention, or does not."""

    mention: MentionRecord
    predicted: bool = Field(description="whether it is among what the model predicts")
    probability: Probability | None = Field(description="calibrated, as the mention's score")
    marginal: Probability | None = Field(description="exact, under the trained model")
    log_odds: float | None = Field(
        description="score of the best structure with the mention less that of the best one without it; null if there "
        "is no such structure"
    )
    contributions: list[ContributionRecord] = Field(description="what differs between the two, the strongest first")
    winner: list[MentionRecord] = Field(description="of the best structure with the mention, in its sentence")
    runner_up: list[MentionRecord] = Field(description="of the best structure without it")
    candidates: list[CandidateRecord] = Field(description="concepts that were compared, the best first")


class ModelRecord(BaseModel):
    """A model that is served."""

    name: str
    kind: str = Field(description="recognizer, linker or segmenter")
    types: list[str] = Field(description="of the mentions that it finds")
    scores: bool = Field(description="whether mentions have probabilities")
    words: bool = Field(description="whether it finds words, too, in place of the record's tokens")
    others: bool = Field(description="whether it can be asked for mentions outside of the most probable structure")


class LimitRecord(BaseModel):
    """Limits of one request."""

    body: int = Field(description="bytes")
    text: int = Field(description="characters of all documents together")
    documents: int = Field(description="in one batch")
    seconds: float = Field(description="from the first byte of the body to the answer")
    sentence: int = Field(description="tokens of one sentence")
    memory: int = Field(description="megabytes (2^20 bytes) that the work may take")


class ModelList(BaseModel):
    """All models; the first is used where a request names none."""

    models: list[ModelRecord]
    limits: LimitRecord


class Health(BaseModel):
    """The server answers."""

    status: str
    version: str


class Error(BaseModel):
    """A request that was refused."""

    error: str = Field(description="one line: what was found, what was expected, what to do")
