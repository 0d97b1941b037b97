"""Sub-words of tokens, as an encoder's tokenizer has them."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from spanloom.errors import DataWarning, ModelError, reason_of
from spanloom.extras import extra
from spanloom.hypergraph import Ints
from spanloom.sparse import gathered

_PIECES: Final = 1 << 16  # words that are looked up at once
_STRANGE: Final = "\U000e0fff"  # a letter that no vocabulary has
_MOST_UNKNOWN: Final = 0.05  # of the tokens, with an encoder for the same language and script


class Subwords(NamedTuple):
    """Sub-words of T tokens.

    Args:
        ids: (S,) numbers in the encoder's vocabulary.
        ptr: (T + 1,) first sub-word of each token; each token has at least one.
        unknown: tokens with a sub-word that the vocabulary lacks.
        shortened: tokens that have more sub-words than were wanted, and lost the last ones.
    """

    ids: Ints
    ptr: Ints
    unknown: int
    shortened: int

    def warn_unknown(self, what: str, digits: int = 1) -> None:
        """Warn where the vocabulary lacks more than that of an encoder for the same language and script.

        Args:
            what: tokens that these are.
            digits: of the percentage behind the point; of many batches the few that differ in these are reported.
        """
        share = self.unknown / max(1, len(self.ptr) - 1)
        if share > _MOST_UNKNOWN:
            warnings.warn(
                f"about {round(100 * share, digits):g} % of {what} have letters that the encoder's vocabulary lacks; "
                "is it for this language and script?",
                DataWarning,
                stacklevel=3,
            )


@dataclass(frozen=True)
class SubwordTokenizer:
    """A tokenizer of the library ``tokenizers``, asked for one token at a time: tokens are those of the documents.

    Args:
        json: its own description, ``tokenizer.json``.

    Raises:
        ModelError: it is no such description.
    """

    json: str
    _tokenizer: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        with extra("torch", "an encoder"):
            import tokenizers
        try:
            made = tokenizers.Tokenizer.from_str(_blank_before_words(self.json))
        except Exception as error:  # the library raises plain ones
            raise ModelError(f"the tokenizer cannot be read: {reason_of(error)}") from None
        made.no_truncation()
        made.no_padding()
        try:
            made.encode(["a", _STRANGE], is_pretokenized=True)
        except Exception as error:  # plain ones, such as of a vocabulary without the unknown sub-word
            raise ModelError(f"the tokenizer reads no text: {reason_of(error)}") from None
        object.__setattr__(self, "_tokenizer", made)

    @property
    def size(self) -> int:
        """The number of sub-words that it knows: one more than the largest of their numbers."""
        return 1 + max(self._tokenizer.get_vocab().values(), default=-1)

    @cached_property
    def unknown(self) -> int:
        """The number of the sub-word for what the vocabulary lacks, or of any other where it lacks nothing."""
        model = json.loads(self.json).get("model") or {}
        name = model.get("unk_token") or "<unk>"
        found = self._tokenizer.token_to_id(name)
        if found is None and isinstance(model.get("unk_id"), int):
            found = model["unk_id"]
        return 0 if found is None else int(found)

    @cached_property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The special sub-words before and after a text."""
        given = self._tokenizer.encode(["a"], is_pretokenized=True)
        own = np.flatnonzero(np.array(given.special_tokens_mask) == 0)
        if not len(own):
            return tuple(given.ids), ()
        return tuple(given.ids[: own[0]]), tuple(given.ids[own[-1] + 1 :])

    def subwords(self, words: list[str], most: int) -> Subwords:
        """Return the sub-words of tokens; one without any, such as a control character, has the unknown one.

        Args:
            words: (T,) tokens.
            most: sub-words of a token, at most.
        """
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        distinct = list(numbers)
        lists: list[list[int]] = []
        for start in range(0, len(distinct), _PIECES):
            # without halves of surrogate pairs, which no tokenizer takes
            piece = [[word.encode("utf-8", "replace").decode("utf-8")] for word in distinct[start : start + _PIECES]]
            found = self._tokenizer.encode_batch_fast(piece, is_pretokenized=True, add_special_tokens=False)
            lists += [one.ids or [self.unknown] for one in found]
        strange = np.array([self.unknown in ids for ids in lists], bool)
        long = np.array([len(ids) > most for ids in lists], bool)
        lists = [ids[:most] for ids in lists]
        starts = np.cumsum([0, *map(len, lists)])
        flat = np.array([number for ids in lists for number in ids], np.int64)
        rows = np.array([numbers[word] for word in words], np.int64)
        at, ptr = gathered(starts, rows)
        return Subwords(flat[at], ptr, int(strange[rows].sum()), int(long[rows].sum()))


def _blank_before_words(description: str) -> str:
    """Return the description of a tokenizer in which a word alone is read as one after a blank."""
    parsed = json.loads(description)

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("type") == "ByteLevel" and "add_prefix_space" in value:
                value["add_prefix_space"] = True
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(parsed.get("pre_tokenizer"))
    return json.dumps(parsed)
