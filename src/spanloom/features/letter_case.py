"""The letter case of sentences, and the usual letter case of words.

A sentence in capitals, in lower case or in title case has little in common with training text in ordinary case. Its
words are read in their usual case, the one most frequent in the training text (compare Lita et al. 2003, "tRuEcasIng").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.errors import ModelError
from spanloom.features.columns import lower
from spanloom.features.tokens import Tokens, flatten, once
from spanloom.hashing import Int64, UInt64, hash_values, intern
from spanloom.modelfile import Array, ModelPart
from spanloom.native import Kernel
from spanloom.sparse import found_in, places_of

_LETTERS: Final = 26
_ASCII: Final = 127
_GAP: Final = np.uint32(ord("a") - ord("A"))
_FEWEST, _LONG = 20, 7  # letters of a sentence, and of one of its words; symbols of genes are shorter
_TITLED: Final = 3  # words in title case, of those that are usually in lower case
_OFTEN: Final = 2  # occurrences of a word whose usual case is known
_WIDTH: Final = 32  # letters of such a word, at most: bits of its mask
_BLOCK: Final = 1 << 10  # documents that are counted together
_USUAL, _CAPITALS, _LOWER, _TITLE = range(4)
_letter_cases = Kernel("letter_cases")


class UsualCase(NamedTuple):
    """The usual letter case of the words of a training text, as hashes: the words cannot be listed.

    Args:
        keys: (V,) hashes of their lower case, ascending.
        capitals: (V,) uint32: bit i is set if character i is usually a capital letter.
    """

    keys: UInt64
    capitals: NDArray[np.uint32]

    @classmethod
    def of(cls, documents: Iterable[Document], words: Sequence[str] = ()) -> UsualCase | None:
        """Learn the usual case of words that occur at least twice; ``None`` where none has capital letters.

        First words of sentences do not count, nor sentences in capitals, in lower case, or in title case.

        Args:
            documents: the training text.
            words: further words by falling frequency, such as those of word vectors; the first form of a word that the
                documents lack is its usual one. They do not count where none has capital letters.

        >>> text = "We saw that the Pax6 gene of mice and the Pax6 gene of men differ"
        >>> tokens = [[0, 2], [3, 6], [7, 11], [12, 15], [16, 20], [21, 25], [38, 41], [42, 46], [47, 51]]
        >>> usual = UsualCase.of([Document(text, tokens=tokens, sentences=[[0, 9]])])
        >>> sorted(usual.capitals.tolist())
        [0, 0, 1]
        """
        forms: dict[str, Counter[str]] = {}
        stream = iter(documents)
        while block := list(islice(stream, _BLOCK)):
            batch = Batch.of(block)
            tokens = flatten(batch)
            kinds, long = _case_of(tokens, batch.sentences)
            counted = np.repeat((kinds == _USUAL) | ~long, np.diff(batch.sentences))
            counted[batch.sentences[:-1][np.diff(batch.sentences) > 0]] = False
            starts, ends = _words(tokens.codes, tokens.starts[counted], tokens.ends[counted])
            ids, _, first = intern(tokens.codes, starts, ends)
            for number, at in zip(np.bincount(ids).tolist(), first.tolist(), strict=True):
                word = tokens.text[starts[at] : ends[at]]
                if len(word) <= _WIDTH:
                    forms.setdefault(lower(word), Counter())[word] += number
        usual = {low: counts.most_common(1)[0][0] for low, counts in forms.items() if counts.total() >= _OFTEN}
        further: dict[str, str] = {}
        for word in words:
            if len(word) <= _WIDTH:
                further.setdefault(lower(word), word)
        usual = (further if _cased(further) else {}) | usual
        if not _cased(usual):
            return None
        keys = hash_values(list(usual))
        masks = [sum(1 << i for i, letter in enumerate(word) if letter.isupper()) for word in usual.values()]
        keys, first = np.unique(keys, return_index=True)
        return cls(keys, np.array(masks, np.uint32)[first])

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays of a model file; they hold no word."""
        return {"case_keys": self.keys, "case_capitals": self.capitals}

    @classmethod
    def from_part(cls, part: ModelPart) -> UsualCase:
        """Return what `to_arrays` gave.

        Raises:
            ModelError: inconsistent arrays.
        """
        keys = part.array("case_keys", np.uint64, None)
        if not len(keys) or (keys[1:] <= keys[:-1]).any():
            raise ModelError("hashes of words with their letter case are not in order")
        return cls(keys, part.array("case_capitals", np.uint32, len(keys)))

    def find(self, hashes: UInt64) -> tuple[NDArray[np.bool_], NDArray[np.uint32]]:
        """Return for V words in lower case whether each is known, and its capital letters, 0 if it is not."""
        rows = found_in(self.keys, hashes)
        return rows >= 0, self.capitals[rows] * (rows >= 0)


def _cased(usual: Mapping[str, str]) -> bool:
    """Return whether a word of several letters is usually not in lower case."""
    return any(len(low) > 1 and low != word for low, word in usual.items())


def _case_of(tokens: Tokens, sentences: Int64) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the letter case of each of N sentences, one of `_USUAL`, `_CAPITALS`, `_LOWER`, `_TITLE`.

    A sentence is in capitals if it has at least `_FEWEST` letters from A to Z, and at most an eighth as many characters
    that are lower case or not ASCII. The other way round it is in lower case, but has no capital letter at all. It is
    in title case if of its tokens at least `_TITLED` begin with a capital letter and a small one, and at most an eighth
    as many with a small one.

    Returns:
        (N,) the letter case, and (N,) whether there is a token of at least `_LONG` characters, which lists of symbols
        lack.
    """
    count = len(sentences) - 1
    kinds, long = np.empty(count, np.uint8), np.empty(count, np.bool_)
    _letter_cases(tokens.codes, tokens.starts, tokens.ends, sentences, _FEWEST, _TITLED, _LONG, kinds, long)
    return kinds, long


def _letters(codes: NDArray[np.uint32], first: str) -> NDArray[np.bool_]:
    """Return which characters are letters of the alphabet that begins with this one."""
    found: NDArray[np.bool_] = codes - np.uint32(ord(first)) < _LETTERS
    return found


def feature_tokens(batch: Batch, usual: UsualCase | None = None) -> Tokens:
    r"""Return the tokens of a batch as features read them; offsets stay.

    Sentences in capitals with a long token are in lower case. Where the usual case of words is known, the words of
    sentences in capitals, in lower case and in title case have it, and the first letter of the sentence is a capital
    one. Unknown words in title case stay. Sentences in title case, or in capitals without a long token, are changed
    only if of their capitalized words at least `_TITLED` are usually in lower case, and most of those that are known.

    >>> import re
    >>> text = "NO CHEST PAIN OR DYSPNEA; WBC, RBC, HGB, PLT, CRP, ALT, AST"
    >>> tokens = [match.span() for match in re.finditer(r"\w+|;", text)]
    >>> batch = Batch.of([Document(text, tokens=tokens, sentences=[[0, 6], [6, 13]])])
    >>> feature_tokens(batch).text[:40]
    'no chest pain or dyspnea; WBC, RBC, HGB,'
    """
    tokens, sentences = once(batch, "tokens", lambda: flatten(batch)), batch.sentences
    kinds, long = once(batch, "letter case", lambda: _case_of(tokens, sentences))
    loud = (kinds == _CAPITALS) & long
    chosen = loud if usual is None else kinds != _USUAL
    if not chosen.any():
        return tokens
    at = np.repeat(chosen, np.diff(sentences))
    codes = tokens.codes.copy()
    starts, ends = _words(codes, tokens.starts[at], tokens.ends[at])
    if usual is None:
        _lower(codes, starts, ends)
    else:
        lowered = codes.copy()
        _lower(lowered, starts, ends)
        ids, hashes, _ = intern(lowered, starts, ends)
        known, capitals = (values[ids] for values in usual.find(hashes))
        full = np.flatnonzero(np.diff(sentences))
        begins = tokens.starts[sentences[full]]
        owner = full[np.searchsorted(begins, starts, "right") - 1]
        first = starts == tokens.starts[sentences[owner]]
        voting = known & ~first & (ends > starts + 1) & _letters(codes[starts], "A")
        votes, small = (np.bincount(owner[who], minlength=len(kinds)) for who in (voting, voting & (capitals == 0)))
        sure = loud | (kinds == _LOWER) | ((small >= _TITLED) & (2 * small >= votes))
        changes = sure[owner] & (known | (kinds[owner] != _TITLE))
        starts, ends = starts[changes], ends[changes]
        _lower(codes, starts, ends)
        raised = (capitals | first)[changes]  # the letters from a to z where the bits of a mask are set
        for bit in range(int(raised.max(initial=0)).bit_length()):
            places = (starts + bit)[(raised >> bit & 1 == 1) & (starts + bit < ends)]
            codes[places] -= _GAP * _letters(codes[places], "a")
    return tokens._replace(
        text=codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"), codes=codes, plain=False
    )


def _words(codes: NDArray[np.uint32], starts: Int64, ends: Int64) -> tuple[Int64, Int64]:
    """Return the starts and ends of the words in some tokens: letters, digits, and characters that are not ASCII."""
    places, bounds = places_of(starts, ends - starts)
    seen = codes[places]
    within = _letters(seen, "A") | _letters(seen, "a") | (seen - np.uint32(ord("0")) < 10) | (seen > _ASCII)
    edges = np.zeros(len(places) + 1, np.bool_)
    edges[bounds] = True
    before, behind = np.append(False, within[:-1]), np.append(within[1:], False)
    return places[within & (~before | edges[:-1])], places[within & (~behind | edges[1:])] + 1


def _lower(codes: NDArray[np.uint32], starts: Int64, ends: Int64) -> None:
    """Make the letters from A to Z of some words small ones."""
    places, _ = places_of(starts, ends - starts)
    codes[places] += _GAP * _letters(codes[places], "A")
