"""INCEpTION's external recommenders: a model suggests annotations of one feature of a layer.

A request has a document as XMI with its types, and names a layer and a feature. The answer is the document with a
prediction for each mention: its type is the value, or its first concept where the feature is ``identifier``. A layer
has no annotation with gaps, so each part of a mention is a prediction, and its explanation names the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip
from spanloom.extras import extra
from spanloom.formats.json_text import field_of
from spanloom.formats.xmi import add_tokens, cas_of, types_of
from spanloom.formats.xmi_repair import ANNOTATION, reason
from spanloom.serve.answers import encode, parse, ready
from spanloom.serve.limits import Limits, Refused
from spanloom.serve.served import Served

_PREDICTED: Final = "inception_internal_predicted"
_CONCEPT: Final = "identifier"
_STRING, _STRINGS = "uima.cas.String", "uima.cas.StringArray"


def predict(served: Served, raw: bytes, limits: Limits) -> bytes:
    """Return the document of a request with predictions.

    Raises:
        Refused: the body is no such request, or its document or types are not XMI that can be read.
    """
    body = parse(raw)
    try:
        metadata, document = (field_of(body, name, dict, "the body") for name in ("metadata", "document"))
        layer, feature = (field_of(metadata, name, str, "metadata") for name in ("layer", "feature"))
        xmi = field_of(document, "xmi", str, "document").encode()
        types = field_of(body, "typeSystem", str, "the body").encode()
    except DataError as error:
        raise Refused(422, f"{error}, as INCEpTION sends it") from None
    if not feature.isidentifier():  # the library makes the code of a class out of it
        raise Refused(422, f"metadata.feature is {clip(feature)}, expected a name of letters, digits and _")
    try:
        with extra("xmi", "an external recommender of INCEpTION"):
            known = types_of(None, xmi, types)
        cas, view, _ = cas_of(xmi, known)
    except (DataError, UsageError) as error:
        raise Refused(422, f"document.xmi or typeSystem: {error}") from None
    text = Document(view.sofa_string)
    problems: list[Problem] = []
    add_tokens(text, sorted(view.select(ANNOTATION), key=lambda fs: fs.xmiID), problems)
    [found] = served.stream(ready([text], limits))
    try:
        view.add_all(list(_predictions(known, layer, feature, found)))
        return encode({"document": cas.to_xmi()})
    except Refused:
        raise
    except Exception as error:  # of whatever kind: the library trusts its input
        what = f"{clip(layer)} cannot have predictions of {clip(feature)}: {reason(error)}"
        raise Refused(422, f"the layer {what}; name a layer of spans and a feature with a text") from None


def _predictions(types: Any, layer: str, feature: str, document: Document) -> Iterator[Any]:
    """Yield a prediction for each part of each mention.

    What INCEpTION adds to a layer for predictions is added where it is missing; it leaves out what it does not know.

    Raises:
        Refused: it is no layer of spans, or the feature holds no text.
    """
    kind = types.get_type(layer) if types.contains_type(layer) else types.create_type(layer, ANNOTATION)
    if not types.is_instance_of(layer, ANNOTATION):
        raise Refused(422, f"metadata.layer is {clip(layer)}, which is no layer of spans")
    names = {one.name: one.rangeType.name for one in kind.all_features}
    needed = {_PREDICTED: "uima.cas.Boolean", feature: _STRING, f"{feature}_score": "uima.cas.Double"}
    for name, values in needed.items():
        if name not in names:
            types.create_feature(kind, name, values)
    range_ = names.get(feature, _STRING)
    if range_ not in (_STRING, _STRINGS):
        raise Refused(422, f"metadata.feature is {clip(feature)}, which holds {clip(range_)}, expected a text")
    for mention in document.mentions:
        value = mention.type if feature != _CONCEPT else next(iter(mention.concepts), None)
        if value is None:
            continue
        given: dict[str, Any] = {_PREDICTED: True, f"{feature}_score": mention.score}
        given[feature] = types.get_type(_STRINGS)(elements=[value]) if range_ == _STRINGS else value
        parts = " … ".join(document.text[start:end] for start, end in mention.spans)
        for number, (start, end) in enumerate(mention.spans, 1):
            if len(mention.spans) > 1 and f"{feature}_score_explanation" in names:
                given[f"{feature}_score_explanation"] = f"part {number} of {len(mention.spans)}: {parts}"
            yield kind(begin=start, end=end, **given)
