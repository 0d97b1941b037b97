"""What is found in texts for rules: the words as they are compared, the lists they are of, and the phrases that count.

Phrases are found by hashes of runs of words. A cue within a longer one does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanloom.attributes.lexicon import KINDS, MINUS, Cues, compared
from spanloom.attributes.places import CLOSING, tokenized
from spanloom.document import Batch, Document
from spanloom.features.tokens import Tokens, flatten
from spanloom.hashing import Int64, RangeHashes, UInt64, hash_values, intern, numbered
from spanloom.text.abbreviations import abbreviations

R = TypeVar("R")

Flags = NDArray[np.bool_]
COLONS: Final = frozenset(":：")
HYPHEN: Final = frozenset("-−–")
OPEN_BRACKET, CLOSE_BRACKET = frozenset("("), frozenset(")")
_BEFORE_NEAR, _PSEUDO, _ENDS, _RELATIONS = map(KINDS.index, ("before_near", "pseudo", "ends", "relations"))
_SLASH, _COMMAS = frozenset("/"), frozenset(",，")
_ADDING: Final = frozenset(("and", "with"))
_PLUS, _OPENING = frozenset("+"), frozenset(",:，：、;；")


class Hits(NamedTuple):
    """Occurrences of phrases, by first token; no cue lies in another.

    Args:
        first, end: (H,) their tokens.
        phrase: (H,) numbers of the phrases.
    """

    first: Int64
    end: Int64
    phrase: Int64


@dataclass(frozen=True)
class Found:
    """The cues of some documents; each array is computed once.

    Args:
        documents: with mentions.
        cues: of their language.
    """

    documents: Sequence[Document]
    cues: Cues
    _known: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def batch(self) -> Batch:
        """The documents as `tokenized` returns them."""
        return Batch.of(
            [tokenized(document, *map(self._words_of, ("answers", "questions"))) for document in self.documents]
        )

    def _once(self, key: object, function: Callable[[], R]) -> R:
        if key not in self._known:
            self._known[key] = function()
        found: R = self._known[key]
        return found

    @cached_property
    def _tokens(self) -> Tokens:
        """The tokens as code points."""
        return flatten(self.batch)

    @cached_property
    def _words(self) -> tuple[list[str], Int64]:
        """The distinct words, as they are compared, and (T,) the number of each token's."""
        tokens = self._tokens
        ids, _, first = intern(tokens.codes, tokens.starts, tokens.ends)
        words, own = numbered([compared(tokens.text[tokens.starts[at] : tokens.ends[at]]) for at in first.tolist()])
        return words, own[ids]

    @cached_property
    def hashes(self) -> UInt64:
        """(T,) hash of each token's word, as it is compared."""
        distinct, ids = self._words
        found: UInt64 = hash_values(distinct)[ids]
        found[self._minus] = hash_values([MINUS])
        found[self._short_forms] = hash_values([""])
        return found

    @cached_property
    def _short_forms(self) -> Int64:
        """Negations in capitals that are short forms in their document, such as *NO* for nitric oxide.

        It defines them, or a word beside one, not in capitals, shows it: *NO synthase*.
        """
        batch, tokens = self.batch, self._tokens
        at = self.where(self._words_of("negations"))
        at = at[(tokens.ends[at] - tokens.starts[at] > 1) & capital(tokens.codes, tokens.ends[at] - 1)]
        if not len(at):
            return at
        evident = np.zeros(len(at), np.bool_)
        for step, name in (-1, "short_before"), (1, "short_after"):
            beside = np.clip(at + step, 0, len(batch.tokens) - 1)
            words = np.isin(beside, self.where(self._words_of(name)))
            evident |= words & ~capital(tokens.codes, tokens.ends[beside] - 1)
        glued = (batch.tokens[at - 1, 1] == batch.tokens[at, 0]) & np.isin(at - 1, self.where(HYPHEN))  # "SMX-NO"
        evident |= glued & (at > 0)
        number = np.searchsorted(batch.starts, at, side="right") - 1
        inner = np.isin(at - 1, self.where(OPEN_BRACKET)) & np.isin(at + 1, self.where(CLOSE_BRACKET))
        for one in np.flatnonzero(inner & ~evident).tolist():
            document = batch.documents[number[one]]
            evident[one] = document.text[slice(*batch.tokens[at[one]].tolist())] in abbreviations(document)
        found: Int64 = at[np.isin(number, number[evident])]
        return found

    @cached_property
    def _minus(self) -> Int64:
        """Hyphens that are signs of items, as in *- fever, - cough* or *-fever +cough*.

        A sign begins the sentence, or is of one that a plus begins, follows a comma or colon, or has a space before but
        none after it, or is before a comma; no number follows. A sentence with signs has one behind a comma, or a plus.
        """
        at, tokens, sentence = self.where(HYPHEN), self.batch.tokens, self.sentence
        at = at[at + 1 < len(tokens)]
        apart = tokens[at, 0] > tokens[at - 1, 1]
        opened, begins = np.isin(at - 1, self.where(_OPENING)), np.isin(at, self.batch.sentences)
        alone = apart & ~begins & (np.isin(at + 1, self.where(CLOSING)) | (tokens[at, 1] == tokens[at + 1, 0]))
        comma = np.isin(at - 1, self.where(_OPENING - COLONS))
        several = np.append(at[comma], self.where(_PLUS))
        begins |= np.isin(self.batch.sentences[sentence[at]], self.where(_PLUS))  # "+ fever - cough"
        signs = (alone | opened | begins) & np.isin(sentence[at], sentence[several])
        genotype = np.isin(at - 1, self.where(_SLASH)) | np.isin(at + 1, self.where(_SLASH))
        at = at[signs & ~genotype & (tokens[at + 1, 0] < tokens[at + 1, 1])]
        first = self._tokens.codes[self._tokens.starts[at + 1]]
        found: Int64 = at[(first < ord("0")) | (first > ord("9"))]
        return found

    @cached_property
    def sentence(self) -> Int64:
        """(T,) number of each token's sentence."""
        return np.repeat(np.arange(len(self.batch.sentences) - 1), np.diff(self.batch.sentences))

    @cached_property
    def hits(self) -> Hits:
        """The phrases that count."""
        table = self.cues.table
        limit = np.repeat(self.batch.sentences[1:], np.diff(self.batch.sentences))
        first, end, phrase = table.words.find(RangeHashes(self.hashes), limit)
        valid = ~table.closed[phrase] | self._closed[end]
        first, end, phrase = first[valid], end[valid], phrase[valid]
        order = np.lexsort((-end, first))
        first, end, phrase = first[order], end[order], phrase[order]
        cue: Flags = np.logical_or.reduce(table.kinds[phrase, :_PSEUDO], axis=1)
        kept = (end > _reached_before(end, cue)) | (table.kinds[phrase, _ENDS:].any(1) & ~cue)
        return Hits(first[kept], end[kept], phrase[kept])

    @cached_property
    def _roles(self) -> tuple[Int64, Int64]:
        """The hit and the role of each role of each hit; those that need the end of a clause only where one is."""
        table, hits = self.cues.table, self.hits
        counts = table.role_ptr[hits.phrase + 1] - table.role_ptr[hits.phrase]
        hit = np.repeat(np.arange(len(counts)), counts)
        role = np.arange(len(hit)) - np.repeat(counts.cumsum() - counts, counts) + table.role_ptr[hits.phrase][hit]
        kept = (table.roles[role, 2] == 0) | self._closed[hits.end[hit]]
        return hit[kept], role[kept]

    def where(self, words: frozenset[str]) -> Int64:
        """Return the tokens whose word, as it is compared, is one of some."""

        def places() -> Int64:
            known = np.zeros(len(self._words[0]), np.bool_)
            known[[self._numbers[word] for word in words if word in self._numbers]] = True
            return np.flatnonzero(known[self._words[1]])

        return self._once(words, places)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of each distinct word."""
        return {word: number for number, word in enumerate(self._words[0])}

    def _any_of(self, *names: str) -> Int64:
        """Return the tokens that are a word of one of some lists."""
        return self._once(names, lambda: self.where(frozenset().union(*map(self._words_of, names))))

    def _is(self, *names: str) -> Flags:
        """Return whether each token is a word of one of some lists; false just before the first and behind the last."""
        return self._once(("is", *names), lambda: self._mask(self._any_of(*names)))

    def _is_word(self, words: frozenset[str]) -> Flags:
        return self._once(("is", words), lambda: self._mask(self.where(words)))

    def _is_end(self, pair: int) -> Flags:
        return self._once(("is end", pair), lambda: self._mask(self.ends(pair)))

    def _mask(self, places: Int64) -> Flags:
        found = np.zeros(len(self.batch.tokens) + 4, np.bool_)
        found[places] = True
        return found

    @cached_property
    def _closed(self) -> Flags:
        """(T + 1,) whether a clause ends before each token."""
        found = np.zeros(len(self.batch.tokens) + 1, np.bool_)
        found[self.batch.sentences] = True
        found[self.where(CLOSING | self._words_of("coordinators"))] = True
        return found

    def _words_of(self, name: str) -> frozenset[str]:
        return self.cues.scope.get(name, frozenset())

    @cached_property
    def separators(self) -> Int64:
        """Tokens that separate items; a hyphen within a word does not."""
        at, tokens = self.where(self._words_of("separators")), self.batch.tokens
        glued = np.isin(at, self.where(HYPHEN)) & (tokens[at, 0] == tokens[at - 1, 1])
        found: Int64 = at[~glued | (tokens[at, 1] < tokens[np.minimum(at + 1, len(tokens) - 1), 0])]
        return found

    @cached_property
    def _stops(self) -> tuple[Int64, Int64, Int64]:
        """Tokens that coordinate, commas, and what ends near scopes."""
        commas = self._words_of("separators") & _COMMAS
        return self.where(self._words_of("coordinators")), self.where(commas), self.where(self._words_of("near_ends"))

    @cached_property
    def _joining_words(self) -> Int64:
        """Coordinators that end near scopes, such as *and*."""
        return self.where(self._words_of("coordinators") & self._words_of("near_ends"))

    @cached_property
    def _genitives(self) -> Int64:
        """Prepositions whose complement is not what a negation denies: of places, and behind nouns that are not light.

        *No pain in the arm*, *no radiation of pain*, but not *no signs of pain*.
        """
        places = self._any_of("genitives", "locatives", "purposes")
        light = self._is("light_nouns")[places - 1] | self._is("coordinators")[places - 1]
        return places[~light | self._is("locatives")[places]]

    @cached_property
    def _is_comma(self) -> Flags:
        return self._mask(self._stops[1])

    @cached_property
    def _begins(self) -> Flags:
        """Whether each token begins a sentence."""
        return self._mask(self.batch.sentences)

    def _behind_commas(self, name: str) -> Int64:
        """Return the words of a list that follow a comma."""
        places = self._any_of(name)
        return places[self._is_comma[places - 1]]

    @cached_property
    def _joints(self) -> Int64:
        """Commas and coordinators, without slashes: that of "w/o" joins nothing."""
        return self.where(self._joining - _SLASH)

    @cached_property
    def _joining(self) -> frozenset[str]:
        return self._words_of("coordinators") | (self._words_of("separators") & _COMMAS)

    def of(self, pair: int, kind: int) -> Int64:
        """Return the numbers of the hits that have a role, ascending.

        Args:
            pair: number of the pair of attribute and value.
            kind: number of the kind.
        """

        def numbers() -> Int64:
            hit, role = self._roles
            own, of_kind = self.cues.table.roles[role, :2].T
            kept = ((own == pair) | (own == -1)) & (of_kind == kind)
            if kind == _PSEUDO:  # "6." is one within a sentence, but not at its end
                kept &= (own != -1) | ~np.isin(self.hits.end[hit], self.batch.sentences)
            found: Int64 = hit[kept]
            found = found[np.append(True, found[1:] != found[:-1])] if len(found) else found
            if kind == _PSEUDO or not len(found):
                return found
            hidden = self.of(pair, _PSEUDO)
            if kind in (_ENDS, _RELATIONS):
                cues = [self.of(pair, cue) for cue in range(_PSEUDO) if cue != _BEFORE_NEAR]
                hidden = np.unique(np.concatenate([self.of(-1, _PSEUDO), *cues]))
            reached = np.append(0, np.maximum.accumulate(self.hits.end[hidden]))
            overlapping = reached[np.searchsorted(self.hits.first[hidden], self.hits.end[found])]
            return found[overlapping <= self.hits.first[found]]

        return self._once((pair, kind), numbers)

    def _relations(self, pair: int) -> Int64:
        """Return the first tokens of relations, such as *effect on*, for a pair's cues; for all, if it is -1."""
        return self.hits.first[self.of(pair, _RELATIONS)]

    def ends(self, pair: int) -> Int64:
        """Return the first tokens of what ends the scope of a pair's cues; of all, if it is -1."""
        own = self.of(pair, _ENDS)
        return self._once(("ends", pair), lambda: np.sort(np.append(self.hits.first[own], self._present)))

    @cached_property
    def _present(self) -> Int64:
        """Commas, *and* and *with* before a quality of what is there: *no A, mild B*, but not *no A, mild B or C*."""
        joints = self.where(self._words_of("separators") & _COMMAS | self._words_of("near_ends") & _ADDING)
        joints = joints[self._is("qualities")[joints + 1]]
        joining, far = self._joining_words, len(self.sentence)
        choices = self.where(self._words_of("coordinators") - self._words_of("near_ends") - _SLASH)
        last = choices[self._is_comma[choices - 1]]  # ", or"

        def following(places: Int64) -> Int64:
            found: Int64 = np.append(places, far)[np.searchsorted(places, joints)]
            return found

        limit = np.minimum(
            self.batch.sentences[self.sentence[joints] + 1], following(self.hits.first[self.of(-1, _ENDS)])
        )
        listed = (following(choices) < np.minimum(limit, following(joining))) | (following(last) < limit)
        found: Int64 = joints[~self._is_comma[joints] | ~listed]
        return found


def capital(codes: NDArray[np.uint32], at: Int64) -> Flags:
    """Return whether some characters are Latin capitals."""
    found: Flags = (codes[at] >= ord("A")) & (codes[at] <= ord("Z"))
    return found


def _reached_before(end: Int64, counts: Flags) -> Int64:
    """Return the largest end of those before each that count; 0 for none."""
    found: Int64 = np.append(0, np.maximum.accumulate(np.where(counts, end, 0)))[:-1] if len(end) else end
    return found
