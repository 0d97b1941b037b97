"""Attributes of mentions in files: as text, where a format has nothing else, and in records of other tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from spanloom.document import Mention
from spanloom.document.span import attribute_value
from spanloom.formats.json_text import are
from spanloom.formats.layouts import plain

OTHERWISE: Final = "attributes that read back in another way"
"""A loss of formats whose attributes are texts, and whose names are not free."""

# fields of a mention that hold its attributes together, in small letters without marks
CONTAINERS: Final = frozenset(("attributes", "attrs", "metaanns", "traits", "assertions", "modifiers"))
# fields of a mention that are an attribute each, likewise
_USUAL: Final = re.compile(
    r"(is)?(negat(ed|ion|ive)|negex|hypothetical|conditional|historical|history|historyof|family|familyhistory|"
    r"uncertain(ty)?|certain(ty)?|generic|experiencer|subject|polarity|temporality|modality|assertion(status)?|"
    r"assertionlabel|factuality|speculat(ed|ion|ive)|hedged?|severity|allergy|presence|certaintyassessment|"
    r"temporalassessment|conditionality)"
)
_NAMES: Final = ("name", "pred", "type", "attribute", "label", "key")
_VALUES: Final = ("value", "obj", "val", "text")
_SCORES: Final = ("score", "confidence", "probability", "acc")
_SPACES: Final = re.compile(r"[\s\0]")


def to_text(value: bool | str) -> str:
    """Return a value as text.

    >>> to_text(True), to_text("high")
    ('true', 'high')
    """
    return value if isinstance(value, str) else "true" if value else "false"


def from_text(text: str) -> bool | str:
    """Return the value of a text; ``true`` and ``false``, in any letter case, are no texts.

    >>> from_text("True"), from_text("high")
    (True, 'high')
    """
    return {"true": True, "false": False}.get(text.lower(), text)


def from_texts(texts: Iterable[str]) -> bool | str:
    """Return the value of an attribute that has one text or several.

    >>> from_texts(["true"]), from_texts(["mild", "old"])
    (True, 'mild|old')
    """
    found = list(texts)
    return from_text(found[0]) if len(found) == 1 else "|".join(found)


def held(mention: Mention, can: Callable[[str, str], bool] = lambda name, text: True) -> tuple[dict[str, str], int]:
    """Return the attributes of a mention as texts, and the number of those that texts do not hold.

    Args:
        mention: with attributes.
        can: whether the format holds a name with a text.
    """
    texts = ((name, to_text(value), value) for name, value in mention.attributes.items())
    kept = {name: text for name, text, value in texts if from_text(text) == value and can(name, text)}
    return kept, len(mention.attributes) - len(kept)


def is_plain(name: str, text: str) -> bool:
    """Return whether a line of words holds a name and a text: the name is a word, the text words and single spaces."""
    return not _SPACES.search(name) and text == " ".join(text.split()) != "" and "\0" not in text


def to_json_text(mention: Mention) -> str:
    """Return the attributes of a mention as JSON; empty if it has none."""
    return json.dumps(dict(mention.attributes), ensure_ascii=False) if mention.attributes else ""


def take_attributes(item: dict[str, Any], native: bool = False) -> None:
    """Move the attributes of another tool's mention to the native fields; other fields stay unchanged.

    Args:
        item: the mention's fields; changed in place.
        native: whether the field ``attributes`` is already native and is left unchanged.

    >>> item = {"type": "problem", "negated": True, "meta_anns": {"Status": {"value": "Affirmed", "confidence": 0.9}}}
    >>> take_attributes(item)
    >>> item
    {'type': 'problem', 'attributes': {'negated': True, 'Status': 'Affirmed'}, 'attribute_scores': {'Status': 0.9}}
    >>> item = {"assertion": "absent", "attributes": [{"name": "course", "value": "acute"}, "old"]}
    >>> take_attributes(item)
    >>> item
    {'attributes': {'assertion': 'absent', 'course': 'acute', 'old': True}}
    """
    taken: dict[str, tuple[bool | str, float | None]] = {}
    for key in [key for key in item if is_attribute(str(key)) and not (native and key == "attributes")]:
        value = item[key]
        group = isinstance(value, dict) and _one(value, _VALUES) is None  # of others, as Azure's assertion
        if (found := _pairs(value if group or plain(str(key)) in CONTAINERS else {key: value})) is not None:
            del item[key]
            taken |= found
        elif key == "attributes":  # of another kind
            item["record_attributes"] = item.pop(key)
    values = {name: value for name, (value, _) in taken.items()}
    scores = {name: score for name, (_, score) in taken.items() if score is not None}
    for field, own in (("attributes", values), ("attribute_scores", scores)):
        if own and isinstance(given := item.get(field, {}), dict):
            item[field] = {**own, **given}


@lru_cache(maxsize=4096)
def is_attribute(key: str) -> bool:
    """Return whether a field of a mention holds an attribute, or all of them."""
    return plain(key) in CONTAINERS or _USUAL.fullmatch(plain(key)) is not None


def _one(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    own = {plain(str(key)): value for key, value in item.items()}
    return next((own[name] for name in names if own.get(name) is not None), None)


def _pairs(value: object) -> dict[str, tuple[bool | str, float | None]] | None:
    """Return names with values and perhaps probabilities; ``None`` if something is no attribute.

    >>> _pairs([{"Name": "NEGATION", "Score": 0.99}]), _pairs({"Negated": "yes", "odd": None}), _pairs([3])
    ({'NEGATION': (True, 0.99)}, {'Negated': ('yes', None)}, None)
    """
    if isinstance(value, list):
        ones = [{"name": one} if isinstance(one, str) else one for one in value]
        others = [plain(str(key)) for one in ones if isinstance(one, dict) for key in one if type(one[key]) is int]
        placed = not {*_VALUES, *_SCORES, "id"}.issuperset(others)  # mentions with offsets
        if placed or not are(ones, dict) or not all(isinstance(_one(one, _NAMES), str) for one in ones):
            return None
        items = [(_one(one, _NAMES), {"value": True, **one}) for one in ones]
    elif isinstance(value, dict):
        items = list(value.items())
    else:
        return None
    found: dict[str, tuple[bool | str, float | None]] = {}
    for name, one in items:
        score = None
        if isinstance(one, dict):
            sure = _one(one, _SCORES)
            score = float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else None
            if (one := _one(one, _VALUES)) is None:
                return None
        try:
            plain_value = attribute_value(one)
        except TypeError:
            return None
        if plain_value is not None and str(name):
            found[str(name)] = plain_value, score
    return found
