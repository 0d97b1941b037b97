"""What cues reach: rules over the tokens of sentences, as array operations on the cues that are found.

1. Phrases are found by hashes of runs of words. A cue within a longer one does not count. What overlaps a pseudo-cue
   does not count for its attribute and value; nor does an end of scopes that overlaps one of its cues.
2. A cue before a mention reaches the mention's first word, or that of one of its parts, if both are in one sentence,
   nothing that ends its scope lies between, and the last comma or coordinator before the mention, or the cue itself, is
   at most `REACH` tokens away. So it reaches all items of an enumeration, up to where a new clause begins. A *near* one
   ends at the next comma, preposition or *and*, after at most `NEAR` tokens; a prefix, such as *non-*, at the next
   word. A part behind a gap is reached from within the gap, by a cue beside it or one without *and* before it: *abdomen
   soft, non-tender*, but not *mild mitral and no aortic regurgitation*, where the cue is about another mention.
   The verb of a negated subject ends nothing: *none of the patients developed anemia*.
3. A cue behind a mention reaches back in the same way; across commas only in a list, as in *fever, chills and rash were
   absent*: a coordinator follows the last comma, with no verb before, and if it follows at once, another comma does;
   and not across a verb and a coordinator. A list is also what a colon, dash or question mark answers: *fever, rash:
   absent*. A sentence that is an answer, as in *Fever? No.*, belongs to its question. A question mark with a space
   before it is a cue of what follows it in the line: *cough ? Bronchitis*.
4. A cue before and a colon at a sentence's end reach the lines below, up to an empty line, a heading, or a line with a
   colon.
5. A mention that begins with a cue before, ends with one behind, or holds a cue inside is marked by it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanloom.attributes.lexicon import KINDS, MINUS, Cues, compared
from spanloom.attributes.places import CLOSING, LINE, MentionParts, mention_parts, tokenized
from spanloom.document import Batch, Document
from spanloom.features.tokens import flatten
from spanloom.hashing import Int64, RangeHashes, UInt64, hash_values, intern, numbered
from spanloom.text import SECTIONS
from spanloom.text.abbreviations import abbreviations
from spanloom.text.sections import Heading, headings

R = TypeVar("R")

REACH: Final = 25
NEAR: Final = 6
Flags = NDArray[np.bool_]
_BEFORE, _BEFORE_NEAR, _AFTER, _AFTER_NEAR, _INSIDE, _PSEUDO, _ENDS, _RELATIONS = range(len(KINDS))
_COLONS: Final = frozenset(":：")
_ANSWERED: Final = frozenset(":：?？-–—=")  # begin a cue that answers for a whole list
_SLASH, _COMMAS = frozenset("/"), frozenset(",，")
_HYPHEN, _PLUS, _OPENING = frozenset("-−–"), frozenset("+"), frozenset(",:，：、;；")
_OPEN_BRACKET, _CLOSE_BRACKET = frozenset("("), frozenset(")")
_NUMBERS: Final = frozenset(("<number>", "<year>", "0"))
_EARLY: Final = 8  # tokens of a line in which a colon makes it one of another list


def headings_of(cues: Cues) -> dict[str, str]:
    """Return the headings' expressions of a language: its own, and the bundled ones of English."""
    own = {name: f"{rule}|{SECTIONS[name]}" if name in SECTIONS else rule for name, rule in cues.headings.items()}
    return {**own, **{name: rule for name, rule in SECTIONS.items() if name not in own}}


class Hits(NamedTuple):
    """Occurrences of phrases, by first token; no cue lies in another.

    Args:
        first, end: (H,) their tokens.
        phrase: (H,) numbers of the phrases.
    """

    first: Int64
    end: Int64
    phrase: Int64


class Reached(NamedTuple):
    """What the nearest cue of a kind is to each of some mentions.

    Args:
        there: (M,) whether it reaches the mention.
        distance: (M,) tokens between; -1 if the sentence has none.
        phrase: (M,) the number of its phrase; -1 without a cue.
    """

    there: Flags
    distance: Int64
    phrase: Int64


@dataclass(frozen=True)
class Scopes:
    """The cues of some documents, and which of their mentions they reach; each is computed once.

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

    @cached_property
    def parts(self) -> MentionParts:
        """The parts of the mentions."""
        return mention_parts(self.batch, self.documents)

    @cached_property
    def headings(self) -> list[Heading | None]:
        """The heading that each mention is under, by the expressions of the language; ``None`` before the first."""
        rules = headings_of(self.cues)
        above: list[Heading | None] = []
        for document in self.documents:
            found = headings(document.text, rules) if document.mentions else []
            starts = [heading.start for heading in found]
            rows = [bisect_right(starts, mention.start) for mention in document.mentions]
            above += [found[row - 1] if row else None for row in rows]
        return above

    def _once(self, key: object, function: Callable[[], R]) -> R:
        if key not in self._known:
            self._known[key] = function()
        found: R = self._known[key]
        return found

    @cached_property
    def _words(self) -> tuple[list[str], Int64]:
        """The distinct words, as they are compared, and (T,) the number of each token's."""
        tokens = flatten(self.batch)
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
        """Negations that are short forms which their document defines, as in *nitric oxide (NO)*."""
        at, batch = self.where(self._words_of("negations")), self.batch
        inner = np.isin(at - 1, self.where(_OPEN_BRACKET)) & np.isin(at + 1, self.where(_CLOSE_BRACKET))
        short = []
        for number in np.unique(np.searchsorted(batch.starts, at[inner], side="right") - 1).tolist():
            text, low = batch.documents[number].text, int(batch.starts[number])
            forms = abbreviations(batch.documents[number])
            own = at[(at >= low) & (at < batch.starts[number + 1])].tolist()
            short += [one for one in own if text[slice(*batch.tokens[one].tolist())] in forms]
        return np.array(short, np.int64)

    @cached_property
    def _minus(self) -> Int64:
        """Hyphens that are signs of items, as in *- fever, - cough* or *-fever +cough*.

        A sign begins the sentence, follows a comma or colon, or has a space before but none after it, or is before a
        comma; no number follows. A sentence with signs has one behind a comma, or a plus.
        """
        at, tokens, sentence = self.where(_HYPHEN), self.batch.tokens, self.sentence
        at = at[at + 1 < len(tokens)]
        apart = tokens[at, 0] > tokens[at - 1, 1]
        opened, begins = np.isin(at - 1, self.where(_OPENING)), np.isin(at, self.batch.sentences)
        alone = apart & ~begins & (np.isin(at + 1, self.where(CLOSING)) | (tokens[at, 1] == tokens[at + 1, 0]))
        comma = np.isin(at - 1, self.where(_OPENING - _COLONS))
        several = np.append(at[comma], self.where(_PLUS))
        signs = (alone | opened | begins) & np.isin(sentence[at], sentence[several])
        return at.compress(signs & ~np.isin(at + 1, self.where(_NUMBERS)))

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
        distinct, ids = self._words
        return self._once(words, lambda: np.flatnonzero(np.array([word in words for word in distinct], np.bool_)[ids]))

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
        """Tokens that separate items."""
        return self.where(self._words_of("separators"))

    @cached_property
    def _stops(self) -> tuple[Int64, Int64, Int64]:
        """Tokens that coordinate, commas, and what ends near scopes."""
        commas = self._words_of("separators") & _COMMAS
        return self.where(self._words_of("coordinators")), self.where(commas), self.where(self._words_of("near_ends"))

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
                hides = np.zeros(len(self.hits.end), np.bool_)
                hides[np.concatenate([self.of(-1, _PSEUDO), *cues])] = True
                hidden = np.flatnonzero(hides)
            reached = np.append(0, np.maximum.accumulate(self.hits.end[hidden]))
            overlapping = reached[np.searchsorted(self.hits.first[hidden], self.hits.end[found])]
            return found[overlapping <= self.hits.first[found]]

        return self._once((pair, kind), numbers)

    @cached_property
    def _below(self) -> Int64:
        """(N,) the end of the lines below each sentence that a list's heading in it reaches; its own end for most."""
        batch = self.batch
        count = len(batch.sentences) - 1
        breaks = np.zeros(count + 1, np.bool_)
        breaks[batch.firsts] = True
        colons = self.where(_COLONS)
        early = colons[colons - batch.sentences[self.sentence[colons]] < _EARLY]
        breaks[self.sentence[early]] = True
        lists = np.unique(self.sentence[colons[np.isin(colons + 1, batch.sentences)]])
        for at in lists.tolist():  # lists are few
            document = int(np.searchsorted(batch.firsts, at, side="right")) - 1
            text, number, end = batch.documents[document].text, at + 1, int(batch.firsts[document + 1])
            while number < end and not breaks[number]:
                token = int(batch.sentences[number])
                between = text[int(batch.tokens[token - 1, 1]) : int(batch.tokens[token, 0])]
                if len(LINE.findall(between.replace("\r\n", "\n"))) != 1:
                    breaks[number] = True  # so that no other list looks there again
                    break
                number += 1
        after = np.flatnonzero(breaks)
        return batch.sentences.take(after[np.searchsorted(after, np.arange(count), side="right")])

    def before(self, pair: int, near: bool = False) -> Reached:
        """Return which mentions the cues before them reach.

        Args:
            pair: number of the pair of attribute and value.
            near: only within the noun phrase.
        """
        return self._once(("before", pair, near), lambda: self._before(pair, near))

    def after(self, pair: int, near: bool = False) -> Reached:
        """Return which mentions the cues behind them reach; the arguments are those of `before`."""
        return self._once(("after", pair, near), lambda: self._after(pair, near))

    def _before(self, pair: int, near: bool) -> Reached:
        hits, parts, at = self.hits, self.parts, self.parts.first
        own = self.of(pair, _BEFORE_NEAR if near else _BEFORE)
        first, end = hits.first[own], hits.end[own]
        if not len(own) or not len(at):
            return _nothing(parts)
        coordinators, stops = self._stops[0], self.where(self._words_of("near_ends") | self._words_of("actions"))
        prefixes = self.where(self._words_of("prefixes"))
        negations = self.where(self._words_of("negations"))
        prefix = near & (np.isin(end - 1, prefixes) | (np.isin(first, prefixes) & np.isin(end - 1, negations)))
        row = np.maximum(np.searchsorted(end, at, side="right") - 1, 0)
        begin = end[row]
        safe = np.minimum(at, len(self.sentence) - 1)
        same = (begin <= at) & (self.sentence[first[row]] == self.sentence[safe]) & (at < len(self.sentence))
        reaches, some = np.zeros(len(at), np.bool_), np.flatnonzero(same)  # only these are looked at further
        cue, low, high, stop = first[row[some]], begin[some], at[some], parts.end[some]
        ends, items = self.ends(pair), self.separators
        verb = self._predicate(cue, low, high, ends)
        subject = _between(self.where(self._words_of("subjects")), cue, low) & (verb < high)
        subject &= ~_between(self.where(CLOSING), low, verb)
        clear = ~self._subject(pair, cue, low, high, stop)
        clear &= (subject | ~_between(ends, low, verb)) & ~_between(ends, verb + 1, high)
        # "no effect on A or B" negates neither; "no pain, change in weight or rash" negates the rash
        relation = _last(self._relations(pair), high)
        about = np.where(verb < high, verb, low)
        clear &= (relation < about) | (_between(items, about, relation) & _between(items, relation, high))
        if near:
            clear &= ~_between(stops, low, high) & (high - low <= np.where(prefix[row[some]], 0, NEAR))
        else:
            clear &= high - np.maximum(low, _last(items, high) + 1) <= REACH
            modifier = np.isin(stop, self.where(self._words_of("heads"))) & ~np.isin(stop, self.batch.sentences)
            clear &= ~self._new_clause(cue, low, high, stop) & ~modifier
            # the tumors in "none of the tumors grew" exist, but not in "none of the tumors were found"
            some_of = (low == cue + 2) & (verb >= high) & np.isin(cue, self.where(self._words_of("subjects")))
            if some_of.any():
                found = self.where(self._words_of("occurrences"))
                absent = _between(found[self._closed[found + 1]], stop, self.batch.sentences[self.sentence[cue] + 1])
                clear &= ~some_of | ~np.isin(low - 1, stops) | absent
        # a part behind a gap: the cue is in the gap, and about this part, no other item that shares it
        later = np.ones(len(at), np.bool_)
        later[parts.ptr[:-1]] = False
        behind = np.append(0, parts.end)[some]
        about = (cue >= behind) & ((high == low) | ~_between(coordinators, behind, cue))
        reaches[some] = clear & (~later[some] | about)
        # a list below: the cue, a colon, and the end of the line
        open_end = np.isin(end, self.where(_COLONS)) & np.isin(end + 1, self.batch.sentences)
        if open_end.any():
            heads = np.flatnonzero(open_end)
            head = heads[np.maximum(np.searchsorted(end[heads], at, side="right") - 1, 0)]
            below = (end[head] <= at) & (at < self._below[self.sentence[first[head]]])
            reaches |= below & ~_between(ends, end[head], at)
        held = np.maximum(np.searchsorted(first, at, side="right") - 1, 0)
        inner = (first[held] <= at) & (at < end[held]) & ((parts.end > end[held]) | (first[held] < at))
        inner &= ~prefix[held] | (parts.end == end[held] + 1)
        if near and inner.any():  # "aniridia (absence of iris)" is a name
            name = np.isin(end[held] - 1, stops) & np.isin(at - 1, self.where(_OPEN_BRACKET))
            inner &= ~(name & np.isin(parts.end, self.where(_CLOSE_BRACKET)))
        phrase = np.where(same, hits.phrase[own[row]], -1)
        return _joined(parts, reaches | inner, np.where(same, at - begin, -1), phrase)

    def _after(self, pair: int, near: bool) -> Reached:
        hits, parts, at = self.hits, self.parts, self.parts.end
        own = self.of(pair, _AFTER_NEAR if near else _AFTER)
        first, end = hits.first[own], hits.end[own]
        if not len(own) or not len(at):
            return _nothing(parts)
        coordinators, commas, stops = self._stops
        row = np.minimum(np.searchsorted(first, at), len(first) - 1)
        begin = first[row]
        same = (begin >= at) & (parts.end > parts.first)
        same &= self.sentence[begin] == self.sentence[np.maximum(at - 1, 0)]
        there, some = np.isin(at, end), np.flatnonzero(same)  # only these are looked at further
        there &= parts.first < first[np.minimum(np.searchsorted(end, at), len(end) - 1)]
        low, high, start = at[some], begin[some], parts.first[some]
        verbs = self.where(self._words_of("verbs"))
        # "has" in "has not been excluded" or "has probably been excluded" begins no clause
        auxiliary = np.where(np.isin(high - 1, verbs), 1, 2 * np.isin(high - 2, verbs))
        auxiliary = np.minimum(auxiliary, high - low)
        clear = ~_between(self.ends(-1), low, high - auxiliary) & ~_between(self._relations(-1), low, high)
        # "an effect on A was not seen", "the cause of A is unclear": of the relation, not of A
        opening, relation = self.batch.sentences[self.sentence[high]], _last(self._relations(-1), start)
        clear &= (relation < opening) | _between(verbs, relation, start)
        if near:
            clear &= (high - low <= 1) & ~_between(stops, low, high)
        else:
            comma, joined = _last(commas, high), _last(coordinators, high)
            # "A, B, and C were absent" is a list, "A is seen, and B was absent" or "is A, and B was absent" is not
            listed = (joined > comma + 1) | ((joined == comma + 1) & (_last(commas, comma) >= opening))
            clause = np.maximum(_last(commas, start) + 1, opening)
            listed &= ~_between(verbs, clause, np.maximum(comma, low))
            # so is "A, B: absent"
            answer = np.isin(high, self.where(_ANSWERED))
            listed |= answer & ~_between(verbs, low, high) & ~_between(self.where(_COLONS), low, high)
            clear &= ((comma < low) | listed) & ~_between(verbs, low, joined) & (high - low <= REACH)
        there[some] |= clear
        phrase = np.where(same, hits.phrase[own[row]], -1)
        found = _joined(parts, there, np.where(same, begin - at, -1), phrase)
        last = parts.ptr[1:] - 1  # what is behind a gap's first part is about the whole only at its end
        return found._replace(there=there[last] if len(last) else found.there)

    def _with_object(self, words: frozenset[str]) -> Int64:
        """Return verbs with an object: neither the clause nor its noun phrase ends behind the verb."""
        verbs = self.where(words)
        return verbs[~self._closed[verbs + 1] & ~np.isin(verbs + 1, self._stops[2])]

    def _predicate(self, first: Int64, begin: Int64, at: Int64, ends: Int64) -> Int64:
        """Return the verb of each cue's subject that lies before a mention, or the mention.

        It does not end the scope: *none of the patients developed*. The cue begins a clause or is one of a subject,
        such as *none*, and no comma or coordinator follows it before the verb. The verb is not that of a relative
        clause: *none of the patients who received both developed anemia*.
        """
        verbs = self._with_object(self._words_of("predicates"))
        verbs = verbs[~np.isin(verbs - 1, ends)]
        if not len(verbs):
            return at
        verb = np.append(verbs, len(self.sentence))[np.searchsorted(verbs, begin)]
        subject = np.isin(first, self.batch.sentences) | np.isin(first - 1, self.where(CLOSING))
        subject |= np.isin(first, self.where(self._words_of("subjects")))
        # "eleven patients and none of the controls had", "none of the rats that received A, B or C developed"
        joining = self.where(self._words_of("coordinators") & self._words_of("near_ends"))
        opening = self.batch.sentences[self.sentence[first]]
        subject &= ~np.isin(first - 1, joining) | _between(verbs, opening, first)
        relative = self.where(self._words_of("relatives"))
        whole = ~_between(self._joints, begin, verb) | _between(relative, begin, verb) & ~_between(joining, begin, verb)
        return np.where(subject & (verb < at) & whole, verb, at)

    def _subject(self, pair: int, first: Int64, begin: Int64, at: Int64, end: Int64) -> Flags:
        """Return whether a cue such as *neither* is not about a mention: *neither CT nor ECG showed*, *reduced pain*.

        The mention is the subject of a verb with an object, or the object of an action that did not happen.
        """
        found = _between(self.where(self._words_of("subjects")), first, begin)
        if found.any():
            near_ends = self._stops[2]
            verbs = self._with_object(self._words_of("predicates") | self._words_of("actions"))
            verb = np.append(verbs, len(self.sentence))[np.searchsorted(verbs, end)]
            does = (verb < self.batch.sentences[self.sentence[first] + 1]) & ~_between(verbs, begin, at)
            for stops in near_ends, self.where(self._words_of("verbs")), self.ends(pair):
                does &= ~_between(stops, end, verb)
            negation = _between(self.where(self._words_of("negations")), first, begin)
            found &= does | (negation & _between(self.where(self._words_of("actions")), begin, at))
        return found

    def _new_clause(self, first: Int64, begin: Int64, at: Int64, stop: Int64) -> Flags:
        """Return whether a clause begins between a cue that is a negation and what is behind it.

        That is so where a verb follows a comma or coordinator; at the first comma if *and* follows; also if no other
        comma or coordinator follows, but one comes before, or the mention does not end the clause; and at the last
        comma before the verb that follows a subordinate clause. *Effect of a diet without niacin on hepatitis* is not
        about hepatitis.
        """
        coordinators, commas, _ = self._stops
        verbs, joints = self.where(self._words_of("verbs")), self.where(self._joining)
        far = len(self.sentence)
        joint = np.append(joints, far)[np.searchsorted(joints, begin)]
        comma = np.append(commas, far)[np.searchsorted(commas, begin)]
        end = self.batch.sentences[self.sentence[first] + 1]
        last = ~_between(self._joints, comma + 1, end)
        ended = last & (_between(coordinators, begin, comma) | ~self._closed[stop])
        ended |= np.isin(comma + 1, self.where(self._words_of("coordinators") & self._words_of("near_ends")))
        negation = _between(self.where(self._words_of("negations")), first, begin)
        # "although free of A, B was found"
        opening = self.batch.sentences[self.sentence[first]]
        main = self.where(self._words_of("verbs") | self._words_of("predicates"))
        verb = np.append(main, far)[np.searchsorted(main, comma)]
        subordinate = np.isin(opening, self.where(self._words_of("subordinators"))) & (verb < end)
        last_comma = _last(commas, verb)
        ended = (ended & (comma < at)) | (subordinate & (begin <= last_comma) & (last_comma < at))
        # "effect of a diet without A on B"
        modifier = np.isin(first, self.where(self._words_of("modifiers")))
        related = modifier & (_last(self._relations(-1), first) >= opening)
        found: Flags = related & _between(self.where(self._words_of("targets")), begin, at)
        found |= modifier & (first != opening) & _between(verbs, begin, at)
        return found | negation & (_between(verbs, joint, at) | ended)

    def _relations(self, pair: int) -> Int64:
        """Return the first tokens of relations, such as *effect on*, for a pair's cues; for all, if it is -1."""
        return self.hits.first[self.of(pair, _RELATIONS)]

    def inside(self, pair: int) -> Flags:
        """Return which mentions hold a cue, (M,)."""
        parts, own = self.parts, self.of(pair, _INSIDE)
        first, end = self.hits.first[own], self.hits.end[own]
        held = np.searchsorted(end, parts.end, side="right") > np.searchsorted(first, parts.first)
        return _joined(parts, held, np.zeros(len(held), np.int64), np.zeros(len(held), np.int64)).there

    def ends(self, pair: int) -> Int64:
        """Return the first tokens of what ends the scope of a pair's cues; of all, if it is -1."""
        return self.hits.first[self.of(pair, _ENDS)]


def _last(places: Int64, high: Int64) -> Int64:
    """Return the last of some places, ascending, before each of others; -1 for none."""
    return np.append(-1, places).take(np.searchsorted(places, high))


def _reached_before(end: Int64, counts: Flags) -> Int64:
    """Return the largest end of those before each that count; 0 for none."""
    return np.append(0, np.maximum.accumulate(np.where(counts, end, 0)))[:-1] if len(end) else end


def _between(places: Int64, low: Int64, high: Int64) -> Flags:
    """Return whether one of some places, ascending, is from ``low`` to before ``high``."""
    return np.searchsorted(places, high) > np.searchsorted(places, low)


def _nothing(parts: MentionParts) -> Reached:
    count = len(parts.ptr) - 1
    return Reached(np.zeros(count, np.bool_), np.full(count, -1), np.full(count, -1))


def _joined(parts: MentionParts, there: Flags, distance: Int64, phrase: Int64) -> Reached:
    """Return what is so of any part of each mention; distances are those of the nearest."""
    if not len(parts.first):
        return _nothing(parts)
    starts = parts.ptr[:-1]
    far = np.where(distance < 0, np.iinfo(np.int64).max, distance)
    nearest = np.minimum.reduceat(far, starts)
    best = np.where(far == np.repeat(nearest, np.diff(parts.ptr)), phrase, -1)
    return Reached(
        np.logical_or.reduceat(there, starts), np.where(nearest == np.iinfo(np.int64).max, -1, nearest),
        np.maximum.reduceat(best, starts),
    )  # fmt: skip
