"""What cues reach: rules over the tokens of sentences, as array operations on the cues that are found.

1. What overlaps a pseudo-cue does not count for its attribute and value; nor does an end of scopes that overlaps one of
   its cues.
2. A cue before a mention reaches the mention's first word, or that of one of its parts, if both are in one sentence,
   nothing that ends its scope lies between, and the last comma or coordinator before the mention, or the cue itself, is
   at most `REACH` tokens away. So it reaches all items of an enumeration, up to where a new clause begins. A *near* one
   ends at the next comma, preposition or *and*, after at most `NEAR` tokens; a prefix, such as *non-*, at the next
   word. A part behind a gap is reached from within the gap, by a cue beside it or one without *and* before it: *abdomen
   soft, non-tender*, but not *mild mitral and no aortic regurgitation*, where the cue is about another mention.
   The verb of a negated subject ends nothing: *none of the patients developed anemia*. A negation is not about what
   follows *of* or *for*, unless a light noun comes before: *no signs of pain*, but not *no radiation of pain*; and no
   cue is about a place: *no crackles in the lungs*. In brackets a cue is about what is there. Where each item has its
   own cue, the item without one is not reached: *no pain, no fever, cough*.
3. A cue behind a mention reaches back in the same way; across commas only in a list, as in *fever, chills and rash were
   absent*: a coordinator follows the last comma, with no verb before, and if it follows at once, another comma does;
   and not across a verb or into a relative clause. An apposition or *such as* may come between. A list is also what a
   colon, dash or question mark answers: *fever, rash: absent*. A sentence that is an answer, as in *Fever? No.*,
   belongs to its question. A question mark with a space before it is a cue of what follows it in the line: *cough ?
   Bronchitis*. The mark of a question with a verb is one only of what would be brought about: *does A cause B?* A
   negation behind a longer mention is not about its modifiers: *catheter exchange was not attempted*.
4. A cue before and a colon at a sentence's end reach the lines below, up to an empty line, a heading, or a line with a
   colon.
5. A mention that begins with a cue before, ends with one behind, or holds a cue inside is marked by it.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from spanloom.attributes.found import CLOSE_BRACKET, COLONS, HYPHEN, OPEN_BRACKET, Flags, Found, capital
from spanloom.attributes.lexicon import ATTRIBUTES, Cues
from spanloom.attributes.places import CLOSING, LINE, MentionParts, mention_parts
from spanloom.hashing import Int64
from spanloom.text import SECTIONS
from spanloom.text.sections import Heading, headings

REACH: Final = 25
NEAR: Final = 6
_BEFORE, _BEFORE_NEAR, _AFTER, _AFTER_NEAR, _INSIDE = range(5)  # of `KINDS`
_ANSWERED: Final = frozenset(":：?？-–—=")  # begin a cue that answers for a whole list
_MARK: Final = frozenset("?？")
_CLOSE: Final = 3  # tokens from a preposition to its complement
_EARLY: Final = 8  # tokens of a line in which a colon makes it one of another list


def headings_of(cues: Cues) -> dict[str, str]:
    """Return the headings' expressions of a language: its own, and the bundled ones of English."""
    own = {name: f"{rule}|{SECTIONS[name]}" if name in SECTIONS else rule for name, rule in cues.headings.items()}
    return {**own, **{name: rule for name, rule in SECTIONS.items() if name not in own}}


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


class Scopes(Found):
    """The cues of some documents, and which of their mentions they reach; each is computed once."""

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

    @cached_property
    def _compound(self) -> Flags:
        """Whether what ends before each token is a modifier: "no A-induced B" is not about A, but "no A-like B" is.

        It does not hold for a part of a mention before the next part, or for A in "A-denies".
        """
        at, tokens, parts = self.where(HYPHEN), self.batch.tokens, self.parts
        at = at[(tokens[at, 0] == tokens[at - 1, 1]) & (tokens[at, 1] == tokens[at + 1, 0])]
        answered = self._is("answers")[at + 1] & self._closed[at + 2]
        own = np.delete(parts.first, parts.ptr[:-1]) - 1
        own = own[own == np.delete(parts.end, parts.ptr[1:] - 1)]
        # "denies A-B", if B is a mention that ends the clause or has a hyphen behind it, too
        items = parts.first[self._closed[parts.end] | self._is_word(HYPHEN)[parts.end]]
        at = at[~answered & ~np.isin(at, own) & ~np.isin(at + 1, items)]
        return self._mask(at[(tokens[at + 1, 0] < tokens[at + 1, 1]) & ~self._is("similar")[at + 1]])

    @cached_property
    def _below(self) -> Int64:
        """(N,) the end of the lines below each sentence that a list's heading in it reaches; its own end for most."""
        batch = self.batch
        count = len(batch.sentences) - 1
        breaks = np.zeros(count + 1, np.bool_)
        breaks[batch.firsts] = True
        colons = self.where(COLONS)
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
        coordinators, stops = self._stops[0], self._any_of("near_ends", "actions")
        prefixes = self._is("prefixes")
        prefix = near & (prefixes[end - 1] | (prefixes[first] & self._is("negations")[end - 1]))
        row = np.maximum(np.searchsorted(end, at, side="right") - 1, 0)
        begin = end[row]
        safe = np.minimum(at, len(self.sentence) - 1)
        same = (begin <= at) & (self.sentence[first[row]] == self.sentence[safe]) & (at < len(self.sentence))
        reaches, some = np.zeros(len(at), np.bool_), np.flatnonzero(same)  # only these are looked at further
        cue, low, high, stop = first[row[some]], begin[some], at[some], parts.end[some]
        ends, items = self.ends(pair), self.separators
        verb = self._predicate(pair, cue, low, high)
        subject = _between(self._any_of("subjects"), cue, low) & (verb < high)
        subject &= ~_between(self.where(CLOSING), low, verb)
        clear = ~self._subject(pair, cue, low, high, stop)
        # "A (without B) and C"
        opening = self.batch.sentences[self.sentence[cue]]
        within = _last(self.where(OPEN_BRACKET), cue) > np.maximum(_last(self.where(CLOSE_BRACKET), cue), opening - 1)
        clear &= ~within | ~_between(self.where(CLOSE_BRACKET), low, high)
        clear &= (subject | ~_between(ends, low, verb - (verb < high))) & ~_between(ends, verb + 1, high)
        # "no effect on A or B" negates neither; "no pain, change in weight or rash" negates the rash
        relation = _last(self._relations(pair), high)
        about = np.where(verb < high, verb, low)
        clear &= (relation < about) | (_between(items, about, relation) & _between(items, relation, high))
        away = high - np.maximum(low, _last(items, high) + 1)
        modifier = self._compound[stop] | (self._is("heads")[stop] & ~self._begins[stop] & ~prefix[row[some]])
        if near:
            # "absence of tuberculosis (TB)"
            short = self._is_word(OPEN_BRACKET)[high - 1] & self._is_word(CLOSE_BRACKET)[high + 1]
            short &= capital(self._tokens.codes, self._tokens.ends[high] - 1)
            inner = ~_between(stops, low, high - short)
            # "suspected A received B", but not "did not cause A", "whether it causes A"
            verbal = self._is("negations", "conjunctions", "prefixes")[low - 1]
            inner &= verbal | ~_between(self._any_of("predicates"), low, high)
            # "grew, but not A and B", "absence of A and B"
            closed = self._closed[stop] | self._is_word(OPEN_BRACKET)[stop]
            listed = np.flatnonzero(self._is("coordinators")[high - 1] & closed & ~inner)
            if len(listed):
                others = np.setdiff1d(stops, coordinators)
                opened = self._is_end(pair)[cue[listed] - 1] | self._is("near_ends", "actions")[low[listed] - 1]
                inner[listed] = opened & ~_between(others, low[listed], high[listed])
            clear &= inner & ~modifier & np.where(prefix[row[some]], high == low, away <= NEAR)
        else:
            clear &= away <= REACH
            # "no A or B mutations", but not "no A or gene mutations"
            next_to = self._is("coordinators")[stop] & ~np.isin(stop + 1, parts.first[parts.end > parts.first + 1])
            modifier |= next_to & self._is("variants")[stop + 2]
            clear &= ~self._own_cues(first, end, row[some], high)
            clear &= ~self._new_clause(cue, np.where(verb < high, verb + 1, low), high, stop) & ~modifier
            # the tumors in "none of the tumors grew" exist, but not in "none of the tumors were found"
            some_of = (low == cue + 2) & (low < high) & (verb >= high) & self._is("subjects")[cue]
            if some_of.any():
                # but not those in "none of A, B or C grew"
                some_of &= ~_between(self._stops[1], low, high) & ~_between(self._any_of("verbs"), low, high)
                found = self._any_of("occurrences")
                absent = _between(found[self._closed[found + 1]], stop, self.batch.sentences[self.sentence[cue] + 1])
                clear &= ~some_of | ~self._is("near_ends", "actions")[low - 1] | absent
        # a part behind a gap: the cue is in the gap, and about this part, no other item that shares it
        later = np.ones(len(at), np.bool_)
        later[parts.ptr[:-1]] = False
        behind = np.append(0, parts.end)[some]
        about = (cue >= behind) & ((high == low) | ~_between(coordinators, behind, cue))
        reaches[some] = clear & (~later[some] | about)
        # a list below: the cue, a colon, and the end of the line
        open_end = self._is_word(COLONS)[end] & np.isin(end + 1, self.batch.sentences)
        if open_end.any():
            heads = np.flatnonzero(open_end)
            head = heads[np.maximum(np.searchsorted(end[heads], at, side="right") - 1, 0)]
            below = (end[head] <= at) & (at < self._below[self.sentence[first[head]]])
            reaches |= below & ~_between(ends, end[head], at)
        held = np.maximum(np.searchsorted(first, at, side="right") - 1, 0)
        inner = (first[held] <= at) & (at < end[held]) & ((parts.end > end[held]) | (first[held] < at))
        inner &= ~prefix[held] | (parts.end == end[held] + 1)
        if near:  # "absence of the iris" is a name
            inner &= ~np.isin(end[held] - 1, stops)
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
        inner = np.minimum(np.searchsorted(end, at), len(end) - 1)
        there &= parts.first < first[inner]
        if near:  # "A-negative cells" are cells
            there &= (end[inner] - first[inner] <= 2) | self._is_word(CLOSE_BRACKET)[at - 1]
        low, high, start = at[some], begin[some], parts.first[some]
        verbs = self._any_of("verbs")
        # "has" in "has not been excluded" or "has probably been excluded" begins no clause
        auxiliary = np.where(self._is("verbs")[high - 1], 1, 2 * self._is("verbs")[high - 2])
        auxiliary = np.minimum(auxiliary, high - low)
        # "A, a known sign of B, was absent", "symptoms, such as A and B, were absent"
        comma, opening = high - auxiliary - 1, self.batch.sentences[self.sentence[high]]
        apposed = self._is_comma[comma]
        if apposed.any():
            inclusion = _last(self._behind_commas("inclusions"), start)
            listed = (inclusion > opening) & ~_between(verbs, inclusion, comma)
            apposed &= listed | (_last(commas, comma) == low)
        clear = ~_between(self.ends(-1), low + apposed, high - auxiliary - apposed)
        clear &= apposed | ~_between(self._relations(-1), low, high)
        if near:
            clear &= (high - low <= 1) & ~_between(stops, low, high)
        else:
            # "an effect on A was not seen", "the cause of A is unclear": of the relation, not of A
            relation = _last(self._relations(-1), start)
            clause = self._any_of("verbs", "predicates", "actions", "relatives")
            apart = _between(clause, relation, start) | _between(self.ends(-1), relation + 2, start)
            clear &= (relation < opening) | apart
            comma, joined = _last(commas, high), _last(coordinators, high)
            # "A, B, and C were absent" is a list, "A is seen, and B was absent" or "is A, and B was absent" is not
            listed = (joined > comma + 1) | ((joined == comma + 1) & (_last(commas, comma) >= opening))
            clause = np.maximum(_last(commas, start) + 1, opening)
            listed &= ~_between(verbs, clause, np.maximum(comma, low))
            # "proteins that are not present"; "events that cause A were not seen", but not "he denies that A was seen"
            relative = self._any_of("relatives")
            clear &= ~_between(relative, low, high)
            relative = relative[self._is("verbs", "predicates", "actions")[relative + 1]]
            clear &= (_last(relative, start) < clause) | _between(commas, start, high)
            # "A in B (not shown)"
            bracket = _last(self.where(OPEN_BRACKET), high)
            clear &= (bracket <= low) | (_last(self.where(CLOSE_BRACKET), high) > bracket)
            # "a fracture of A was not seen"
            of = _last(self._genitives[~self._is("purposes")[self._genitives]], start)
            stated = _between(self._any_of("verbs", "predicates", "actions", "relatives"), of, start)
            clear &= (of <= clause) | (start - of > _CLOSE) | stated
            # so is "A, B: absent"
            listed |= apposed
            colon = _between(self.where(COLONS), low, high)
            listed |= self._is_word(_ANSWERED)[high] & ~_between(self._any_of("verbs", "answers"), low, high) & ~colon
            clear &= ((comma < low) | listed) & ~_between(verbs, low, high - auxiliary) & (high - low <= REACH)
            # "does A cause B?" is about B, "is A safe in B?" and "A: help or harm?" are about neither
            about = ~self._is("questions")[opening] & ~colon | self._is("predicates")[start - 1]
            clear &= about | ~self._is_word(_MARK)[high] | (end[row[some]] > high + 1)
            clear &= (joined < high - 1) & ~self._compound[low]
            if self.cues.table.pairs[pair].attribute == ATTRIBUTES[0]:
                # "catheter exchange was not attempted" negates no catheter, if the exchange is a mention
                order = np.argsort(parts.first, kind="stable")
                reached = np.maximum.accumulate(parts.end[order])
                outer = reached[np.searchsorted(parts.first[order], start, side="right") - 1]
                clear &= (outer <= low) | _between(self._any_of("near_ends", "coordinators"), low, outer)
        there[some] |= clear
        phrase = np.where(same, hits.phrase[own[row]], -1)
        found = _joined(parts, there, np.where(same, begin - at, -1), phrase)
        # what is behind a gap's first part is about the whole only at its end
        return found._replace(there=there[parts.ptr[1:] - 1])

    def _with_object(self, words: frozenset[str]) -> Int64:
        """Return verbs of main clauses with an object: neither the clause nor its noun phrase ends behind the verb."""
        verbs = self.where(words)
        verbs = verbs[~self._is("relatives")[verbs - 1]]
        return verbs[~self._closed[verbs + 1] & ~self._is("near_ends")[verbs + 1]]

    def _predicate(self, pair: int, first: Int64, begin: Int64, at: Int64) -> Int64:
        """Return the verb of each cue's subject that lies before a mention, or the mention.

        It does not end the scope: *none of the patients developed*. The cue begins a clause or is one of a subject,
        such as *none*, and no comma or coordinator follows it before the verb. The verb is not that of a relative
        clause: *none of the patients who received both developed anemia*.
        """
        verbs = self._with_object(self._words_of("predicates"))
        verbs = verbs[~self._is_end(pair)[verbs - 1]]
        if not len(verbs):
            return at
        verb = np.append(verbs, len(self.sentence))[np.searchsorted(verbs, begin)]
        verb += self._is_end(pair)[verb + 1]  # "had developed"
        subject = self._begins[first] | self._is_word(CLOSING)[first - 1] | self._is("subjects")[first]
        # "eleven patients and none of the controls had", "none of the rats that received A, B or C developed"
        joining = self._joining_words
        opening = self.batch.sentences[self.sentence[first]]
        joined = np.isin(first - 1, joining)
        comma = self._is_comma[first - 2]
        subject |= joined & comma
        subject &= ~joined | comma | _between(self._any_of("verbs", "predicates"), opening, first)
        relative = self._any_of("relatives")
        whole = ~_between(self._joints, begin, verb) | _between(relative, begin, verb) & ~_between(joining, begin, verb)
        return np.where(subject & (verb < at) & whole, verb, at)

    def _subject(self, pair: int, first: Int64, begin: Int64, at: Int64, end: Int64) -> Flags:
        """Return whether a cue such as *neither* is not about a mention: *neither CT nor ECG showed*, *reduced pain*.

        The mention is the subject of a verb with an object, or the object of an action that did not happen. Behind a
        conjunction it is the subject of another verb than one of being there.
        """
        found = _between(self._any_of("subjects"), first, begin) & ~self._is("verbs")[begin - 1]
        if found.any():
            joining = self._joining_words
            verbs = self._with_object(self._words_of("predicates") | self._words_of("actions"))
            verb = np.append(verbs, len(self.sentence))[np.searchsorted(verbs, end)]
            does = (verb < self.batch.sentences[self.sentence[first] + 1]) & ~_between(verbs, begin, at)
            does &= ~self._is_comma[verb - 1]  # "but neither A nor B, improved"
            for stops in joining, self._any_of("verbs"), self.ends(pair):
                does &= ~_between(stops, end, verb)
            # "neither A nor B was effective", but not "was found"
            copulas = self._any_of("verbs")
            copula = np.append(copulas, len(self.sentence))[np.searchsorted(copulas, end)]
            is_so = (copula < self.batch.sentences[self.sentence[first] + 1] - 1) & ~_between(copulas, begin, at)
            is_so &= ~self._is("near_ends")[begin - 1] & ~self._closed[np.minimum(copula + 1, len(self.sentence))]
            is_so &= ~_between(joining, end, copula) & ~_between(self.ends(pair), end, copula)
            is_so &= ~_between(self._any_of("occurrences"), copula, copula + 4)
            does |= is_so
            # "neither reduced A nor B"
            places = self._any_of("subjects")
            acted = _last(places[self._is("actions")[places + 1]], first)
            does |= acted >= self.batch.sentences[self.sentence[first]]
            does |= _between(self._any_of("negations"), first, begin) & _between(self._any_of("actions"), begin, at)
            found &= does
        # "whether A binds B", but not "whether A is present", "whether it causes A"
        clause = self._is("conjunctions")[begin - 1]
        limit = np.minimum(end + _CLOSE, self.batch.sentences[self.sentence[first] + 1])
        occurs = self._any_of("occurrences")
        occurs = occurs[~self._is("purposes")[occurs + 1]]  # but not "whether A is required for B"
        stated = self._closed[end] | _between(occurs, end, limit)
        return found | clause & ~(stated | _between(self._any_of("verbs", "predicates"), begin, at))

    def _own_cues(self, first: Int64, end: Int64, row: Int64, at: Int64) -> Flags:
        """Return whether each item of an enumeration has its own cue, but not a mention's: *no A, no B, C*.

        The cue follows a comma, the one before it comes without a comma between, and no coordinator follows.
        """
        commas, before = self._stops[1], np.maximum(row - 1, 0)
        begin, last = first[row], self.batch.sentences[self.sentence[first[row]] + 1]
        own: Flags = (row > 0) & self._is_comma[begin - 1] & (self.sentence[first[before]] == self.sentence[begin])
        own &= ~_between(commas, end[before], begin - 1)
        comma = np.append(commas, len(self.sentence))[np.searchsorted(commas, end[row])]
        own &= (comma < at) & ~_between(self._stops[0], comma, last)
        return own

    def _new_clause(self, first: Int64, begin: Int64, at: Int64, stop: Int64) -> Flags:
        """Return whether a clause begins between a cue that is a negation and what is behind it.

        That is so where a verb follows a comma or coordinator; at the first comma if *and* follows; also if no other
        comma or coordinator follows, but one comes before, or the mention does not end the clause; and at the last
        comma before the verb that follows a subordinate clause. *Effect of a diet without niacin on hepatitis* is not
        about hepatitis.
        """
        coordinators, commas, _ = self._stops
        verbs, joints = self._any_of("verbs"), self.where(self._joining)
        far = len(self.sentence)
        joint = np.append(joints, far)[np.searchsorted(joints, begin)]
        comma = np.append(commas, far)[np.searchsorted(commas, begin)]
        end = self.batch.sentences[self.sentence[first] + 1]
        last = ~_between(self._joints, comma + 1, end)
        ended = last & (_between(coordinators, begin, comma) | ~self._closed[stop])
        ended |= np.isin(comma + 1, self._joining_words)
        # "the girl, who never had A, has B"
        item_end = np.minimum(np.append(joints, far)[np.searchsorted(joints, comma + 1)], end)
        ended |= (stated := _between(verbs, comma, item_end))
        opening = self.batch.sentences[self.sentence[first]]
        begins = self._is("subordinators")[opening]
        ended |= last & (begins | _between(self._behind_commas("relatives"), opening, first))
        negation = _between(self._any_of("negations"), first, begin)
        # "although free of A, B was found"
        main = self._any_of("verbs", "predicates", "actions")
        verb = np.append(main, far)[np.searchsorted(main, comma)]
        subordinate = begins & (verb < end)
        last_comma = _last(commas, verb)
        ended = (ended & (comma < at)) | (subordinate & (begin <= last_comma) & (last_comma < at))
        # "no radiation of A", but not "no signs of A"
        of = _last(self._genitives, at)
        of = np.where(negation, of, _last(self._genitives[~self._is("purposes")[self._genitives]], at))
        place = self._is("locatives")[of]
        inner = of >= begin + ~place
        complement = inner & ~_between(self._joints, of, at) & ~_between(verbs, of, at)
        # "no A in B, C and D", "no A in the liver or spleen", but not "no A in B, C or D"
        joined = np.append(coordinators, far)[np.searchsorted(coordinators, of)]
        places = self._is("near_ends")[joined] | (place & (self._is("organs")[stop - 1] | self._is("organs")[stop]))
        places &= (joined < end) & ~_between(verbs, of, joined)
        complement |= inner & places & ~_between(self._joints, joined + 1, at)
        complement &= negation | place
        # "effect of a diet without A on B"
        modifier = self._is("modifiers")[first]
        related = modifier & (_last(self._relations(-1), first) >= opening)
        found: Flags = complement | related & _between(self._any_of("targets"), begin, at)
        modifier |= self._is("negations")[first] & self._is("relatives")[first - 1]
        found |= modifier & (first != opening) & _between(self._any_of("verbs", "predicates", "actions"), begin, at)
        # "to exclude A, B was measured"
        found |= (first == opening) & ~self._is("conjunctions")[first] & stated & (comma < at)
        return found | negation & (_between(verbs, joint, at) | ended)

    def inside(self, pair: int) -> Flags:
        """Return which mentions hold a cue, (M,)."""
        parts, own = self.parts, self.of(pair, _INSIDE)
        first, end = self.hits.first[own], self.hits.end[own]
        held = np.searchsorted(end, parts.end, side="right") > np.searchsorted(first, parts.first)
        return _joined(parts, held, np.zeros(len(held), np.int64), np.zeros(len(held), np.int64)).there


def _last(places: Int64, high: Int64) -> Int64:
    """Return the last of some places, ascending, before each of others; -1 for none."""
    return np.append(-1, places).take(np.searchsorted(places, high))


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
