"""Guesses about column files, from their first lines: what divides fields, which column is what, how tags are spelled.

`guessed_layout` finds the whole layout, `named_layout` what the names of columns leave open, and `is_tagged` whether a
file of any name is a column file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, islice, pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from spanloom.errors import UsageError, clip
from spanloom.formats.blocks import NAMES, TAG, UNTYPED
from spanloom.formats.tag_dialects import (
    BLANKS,
    BRACKETS,
    DOCUMENT,
    SENTENCE,
    SPECIAL,
    TAB,
    USUAL,
    ColumnLayout,
    TagDialect,
    Tagging,
    detect,
    read_tag,
    split,
)

CHUNK = "chunk"  # the column of phrases in the files of CoNLL-2003
_MOST = 0.95  # of the lines that a guess must fit
_MANY = 0.8  # likewise, of a layout in which a wrong tag would hide the others
_LONGEST = 24  # fields of a line, on average, if it is one of a column file
_BEFORE_CHUNKS = {1: ["pos"], 2: ["lemma", "pos"]}  # number of columns between words and chunks: their names
# the types of CoNLL-2000 and of CoNLL-2003, English and German
_CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC", "PC", "AC"}
_PHRASES = _CHUNKS | {"TOP", "ROOT", "S", "SBARQ", "SINV", "SQ", "FRAG", "NX", "QP", "WHNP", "WHADVP", "WHPP", "WHADJP"}
_ARGUMENT = re.compile(r"V|(?:[RC]-)?ARG.*")  # of a predicate
_FIXED_2012 = 11  # columns of CoNLL-2012 before those of predicates
_OF_SENTENCE = re.compile(r"\d{1,6}-(\d{1,6})")
_GAPS = re.compile(r"(?:[BI][DH]|[DH][BI])-")
_IN_BRACKETS = TagDialect(BRACKETS)
_TAGGINGS: Final = MappingProxyType({"tagging=types": False, "tagging=letters": True})
# names in header lines, in small letters
_WORD_NAMES = {"word", "words", "token", "tokens", "form", "text", "surface", "term", "wort", "mot", "palabra"}
_TAG_NAME = re.compile(
    r"(?:ne|ner|bio|iob2?|bioes|bilou|tags?|labels?|entity|entities|class|type|annotation)"
    r"|(?:ne|ner|bio|iob2?|entity|token|word)[-_ ](?:tags?|labels?|type|class)|ne-.+|.+_(?:ner|ne|bio|iob)"
)
_ROLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("sentence", "sentence #", "sentence_id", "sent_id", "sentence id", "sent"), SENTENCE),
        **dict.fromkeys(("doc", "doc_id", "document", "document_id", "docid", "pmid", "file", "filename"), DOCUMENT),
    }
)
# columns of HIPE that mark the mentions of others again: in another sense, by finer types, in their parts
_AGAIN = {"ne-coarse-meto", "ne-fine-lit", "ne-fine-meto", "ne-fine-comp"}
_LANGUAGE = re.compile(r"([a-z]{2,3}(?:-[a-z]{2,8})?:)\S")  # before each word of WikiANN
_NUMBERED = re.compile(r"(\S)[0-9]")  # of Weibo: a character, and its number in the word
_HOW = "name the columns, such as word,pos,tag (--columns, columns=)"

_Rows = list[list[list[str]]]


class _Head(NamedTuple):
    """The fields of the first lines of a file.

    Args:
        rows: the fields of each line, by sentence, without the header.
        divider: the separator of the fields.
        inline: whether a line of the file is a sentence.
        header: the fields of the header line.
        width: the usual number of fields.
    """

    rows: _Rows
    divider: str
    inline: bool
    header: tuple[str, ...]
    width: int

    @property
    def fit(self) -> _Rows:
        """The rows of the usual width, by sentence."""
        kept = ([row[: self.width] for row in sentence if _width(row) == self.width] for sentence in self.rows)
        return [sentence for sentence in kept if sentence]

    @property
    def tokens(self) -> list[list[str]]:
        """All rows, except single rows of one field, which are rather marks of documents."""
        return [row for sentence in self.rows for row in sentence if len(sentence) > 1 or len(row) > 1]


def _width(row: Sequence[str]) -> int:
    """Return the number of fields, of which each may end in a divider."""
    return len(row) - (len(row) > 2 and not row[-1])


def _head(sentences: Sequence[Sequence[str]]) -> _Head:
    lines = [line for sentence in sentences for line in sentence]
    items = [line.split() for line in lines]
    tabs = 2 * sum(TAB in line for line in lines) >= len(lines)
    between = None if tabs else _inline_divider(items)
    divider = TAB if tabs else between or _divider(lines)
    rows = [[split(line, divider) for line in sentence] for sentence in (items if between else sentences)]
    header = tuple(rows[0][0]) if rows and rows[0] and is_header(rows[0][0]) else ()
    if header:
        rows = [[row for row in sentence if tuple(row) != header] for sentence in rows]
    widths = Counter(_width(row) for sentence in rows for row in sentence)
    # a line of one field is rather the mark of a document than a token, if others have several
    several = Counter({width: count for width, count in widths.items() if width > 1})
    usual = several if 2 * several.total() >= widths.total() else widths
    width = usual.most_common(1)[0][0] if usual else len(header)
    return _Head(rows, divider, between is not None, header, width)


def _inline_divider(items: Sequence[Sequence[str]]) -> str | None:
    """Return the separator of word and tag in lines such as ``No/O pain/B-problem``; ``None`` for others."""
    tokens = [item for line in items for item in line]
    if 2 * len(tokens) < 3 * len(items):
        return None
    for divider in "|/_:":
        parts = [token.split(divider) for token in tokens if divider in token]
        if len(parts) < _MOST * len(tokens):
            continue
        values = [part[-1] for part in parts]
        dialect = detect(values)
        outside = sum(value in ("O", "o") for value in values)
        if dialect is not None and (dialect.divider or 2 * outside >= len(values)):
            return divider
    return None


def _divider(lines: Sequence[str]) -> str:
    rows = [split(line, BLANKS) for line in lines]
    by_blanks = 2 * sum(len(row) > 1 for row in rows) >= len(rows)
    for divider in ",;|/":
        if by_blanks and sum(all(cell.endswith(divider) for cell in row[:-1]) for row in rows) > _MOST * len(rows):
            return divider
        body = lines[is_header(split(lines[0], divider)) :] if lines else lines
        last = [line.rpartition(divider)[2].strip(' "') for line in body if divider in line]
        surely = len(last) >= _MOST * len(body) and detect(last) is not None
        if surely and not (by_blanks and detect(row[-1] for row in rows) is not None):
            return divider
    return BLANKS


def is_header(cells: Sequence[str]) -> bool:
    """Return whether fields are names of columns, of words or numbers and of tags.

    >>> is_header(["token", "pos", "ner"]), is_header(["No", "O"])
    (True, False)
    """
    names = [_plain(cell) for cell in cells]
    is_named = [name in _WORD_NAMES or name in _ROLES for name in names]
    return any(is_named) and any(map(_TAG_NAME.fullmatch, names))


def _plain(name: str) -> str:
    return name.strip('#" ').lower()


def named_layout(columns: Sequence[str], sentences: Sequence[Sequence[str]], usual: bool = False) -> ColumnLayout:
    """Return the layout given by the user or by the file's ``# global.columns`` line.

    Args:
        columns: one name each; ``tag*`` at the end stands for as many tags as a line has, one or more, and ``_*`` for
            any number of fields that are not read; ``tagging=types`` declares that tags have no letters such as ``B-``.
        sentences: the first lines of the file, which show the rest of the layout.
        usual: whether tags are spelled as usual; else they may be of any dialect.

    Raises:
        UsageError: no word column, or two columns of one name.
    """
    if isinstance(columns, Mapping):
        raise UsageError("columns is a mapping, expected the names of a column file's columns, such as 'word,pos,tag'")
    letters = [_TAGGINGS[name] for name in columns if name in _TAGGINGS]
    own = [name for name in columns if name not in _TAGGINGS]
    more, rest = own[-1:] == ["tag*"], own[-1:] == ["_*"]
    names = (*own[:-1], "tag") if more else tuple(own[:-1] if rest else own)
    if names.count("word") != 1:
        shown = clip(" ".join(columns), NAMES)
        raise UsageError(f"columns are {shown}; expected one 'word' among them, such as 'word pos tag'")
    counts = Counter(names)
    if (twice := next((name for name in counts if name not in ("tag", "_") and counts[name] > 1), None)) is not None:
        raise UsageError(f"columns name {clip(twice)} twice; only 'tag' (nested levels) and '_' (skipped) may repeat")
    head = _head(sentences)
    layout = ColumnLayout(names, head.divider, more=more, rest=rest, inline=head.inline, header=head.header)
    rows = [row for sentence in head.rows for row in sentence if layout.has_width(row)]
    values = [[value for row in rows for value in row[where]] for where in layout.tag_fields]
    dialects = [USUAL if usual else Tagging(*letters[-1:]).see(column) for column in values]
    least = len(names) - 1 if more and _lacks_tags(head.tokens, len(names), dialects[-1]) else 0
    return replace(layout, dialects=tuple(dialects), least=least)


def _lacks_tags(rows: Sequence[Sequence[str]], width: int, dialect: TagDialect) -> bool:
    """Return whether lines with one field less are the tokens outside of mentions, which no other tag marks."""
    shorter = [row for row in rows if len(row) == width - 1]
    tagged = sum(width > 2 and read_tag(row[-1], dialect) is not None for row in shorter)
    tags = {read_tag(value, dialect) for row in rows for value in row[width - 1 :]} - {None}
    some = (1 - _MOST) * len(rows) < len(shorter) < _MOST * len(rows)
    return some and 2 * tagged < len(shorter) and bool(tags) and () not in tags


def guessed_layout(sentences: Sequence[Sequence[str]], tagged: bool = True) -> ColumnLayout | str:
    """Guess the layout from the first sentences; return a message if none fits.

    The word is the first column that holds neither tags nor numbers of tokens or sentences. All columns of tags are
    nested levels, with two exceptions. The first of several holds no mentions if its types are those of phrases (NP,
    VP), as in the files of CoNLL-2003: it is named ``chunk``, and columns before it ``pos``, or ``lemma`` and ``pos``.
    A column that marks nearly the same words as those before it is not read. Types without letters count as tags if
    ``O`` is between them and no column has letters. Other columns are named as in the header, or ``column3`` etc.

    Args:
        sentences: the lines of each sentence.
        tagged: whether there must be tags.

    >>> guessed_layout([["EU NNP B-ORG", "rejects VBZ O"]]).names
    ('word', 'column2', 'tag')
    >>> guessed_layout([["1\\tEU\\tB-ORG\\tO\\t-", "2\\trejects\\tO\\tO\\t-"]]).names
    ('id', 'word', 'tag', 'tag', 'column5')
    >>> guessed_layout([["EU NNP I-NP I-ORG", "rejects VBZ I-VP O"]]).names
    ('word', 'pos', 'chunk', 'tag')
    >>> guessed_layout([["EU_B-ORG rejects_O"], ["Oslo_B-GPE"]]).inline
    True
    """
    lines = [line for sentence in sentences for line in sentence]
    tagged_lines = [line for line in lines if len(line.split()) > 2 and all(map(TAG.fullmatch, line.split()))]
    if len(lines) <= 3 * len(tagged_lines) < 3 * len(lines) and any("-" in line for line in tagged_lines):
        return f"lines hold words and tags in turn; write a word and its tag a line, or {_HOW}"
    head = _head(sentences)
    layout = _ragged(head) or (
        _of_table(head, tagged) if head.width > 1 and head.fit else ColumnLayout(("word",), head.divider, ())
    )
    if isinstance(layout, str):
        return layout
    words = [row[layout.word] for row in head.tokens if len(row) > layout.word]
    if len(layout.names) > 1 and words and all(map(TAG.fullmatch, words)) and any("-" in word for word in words):
        return f"all columns hold tags, and none holds words; write each word before its tag, or {_HOW}"
    return layout


def added_to_words(words: Sequence[str]) -> re.Pattern[str] | None:
    """Return what a file adds to each of its words: its language before it, or a number behind each character.

    >>> added_to_words(["en:No", "en:pain", "en:."]), added_to_words(["No", "pain"])
    (re.compile('^en:(?=.)'), None)
    >>> added_to_words(["胸0", "痛1", "。0"])
    re.compile('(?<=^.)[0-9]$')
    """
    if len(words) > 2 and (first := _LANGUAGE.match(words[0])) and all(word.startswith(first[1]) for word in words):
        return re.compile(f"^{re.escape(first[1])}(?=.)")
    numbered = [_NUMBERED.fullmatch(word) for word in words]
    characters = sum(one is not None and one[1] >= "\u2e80" for one in numbered)
    return re.compile("(?<=^.)[0-9]$") if len(words) > 2 and all(numbered) and 2 * characters >= len(words) else None


def _ragged(head: _Head) -> ColumnLayout | None:
    """Return the layout of a file whose lines have as many tags as there are; ``None`` for others."""
    rows = head.tokens
    widths = Counter(map(_width, rows))
    shares = accumulate(widths[width] for width in sorted(widths))
    least = next((width for width, rank in zip(sorted(widths), shares, strict=True) if rank > 0.01 * len(rows)), 0)
    if len(widths) < 2 or head.divider not in (TAB, BLANKS):
        return None
    for width in (least, least + 1):
        dialect = detect(value for row in rows for value in row[width - 1 :]) if width > 1 else None
        lacks = width > least
        if dialect is None or dialect.divider in ("", BRACKETS) or lacks > _lacks_tags(rows, width, dialect):
            continue
        names = ("word", *(f"column{i}" for i in range(2, width)), "tag")
        layout = ColumnLayout(
            names, head.divider, (dialect,), more=True, least=width - lacks, inline=head.inline, header=head.header
        )
        fit = [row for row in rows if layout.has_width(row) and layout.wrong_tag(row) is None]
        longer = sum(len(row) > width for row in rows)
        if len(fit) >= _MANY * len(rows) and 2 * sum(len(row) > width for row in fit) >= longer:
            return layout
    return None


def _of_table(head: _Head, tagged: bool) -> ColumnLayout | str:
    """Return the layout of a file whose lines have equal numbers of fields."""
    # sentences may have columns of their own, as those of predicates in the files of CoNLL-2012
    widths = [{len(row) for row in sentence} for sentence in head.rows]
    rest = all(len(one) == 1 and min(one) > _FIXED_2012 for one in widths) and len(set.union(*widths)) > 1
    if rest:
        width = min(len(row) for sentence in head.rows for row in sentence) - 1  # the last one is that of coreference
        head = head._replace(rows=[[row[:width] for row in sentence] for sentence in head.rows], width=width)
    rows = head.fit
    columns = [[row[i] for sentence in rows for row in sentence] for i in range(head.width)]
    names = _roles(head) if head.header else _leading(rows, head.width)
    names = ["_" if name and name in names[:i] else name for i, name in enumerate(names)]
    dialects = [None if name else detect(column) for name, column in zip(names, columns, strict=True)]
    typed = [  # columns of tags with letters, and not only those outside of mentions
        one is not None and bool(one.divider) and any(read_tag(value, one) for value in column)
        for one, column in zip(dialects, columns, strict=True)
    ]
    word = names.index("word") if "word" in names else _word(names, dialects, typed)
    names[word] = "word"
    others = [i for i, name in enumerate(names) if not name]
    tags = [i for i in others if dialects[i] is not None and (dialects[i] or USUAL).divider]
    tags = [i for i in tags if dialects[i] != _IN_BRACKETS or not _are_phrases(columns[i])]
    if not any(typed[i] for i in tags):
        alone = [i for i in others if dialects[i] is not None and not (dialects[i] or USUAL).divider]
        tags = alone[-1:] or tags[-1:]
    # a second and last column can be but types, with another sign than O for many tokens
    outside = sum(value in ("-", "_") for value in columns[-1])
    if not tags and head.width == 2 and 2 * outside >= len(columns[-1]) > outside:
        dialects[-1] = detect(columns[-1], certain=True)
        tags = others[-1:]
    if not tags and tagged:
        return _no_tags(columns[-1])
    kinds = {tag.partition("-")[2] for tag in columns[tags[0]] if tag != "O"} if len(tags) > 1 else set()
    chunk = tags[0] if kinds and kinds <= _CHUNKS else None
    unread = _again(tags[chunk is not None :], names, dialects, head)
    for i in others:
        names[i] = "tag" if i in tags and i not in unread else ""
    if chunk is not None:
        names[chunk] = CHUNK
        between = [i for i in range(word + 1, chunk) if not names[i]]
        for i, name in zip(between, _BEFORE_CHUNKS.get(len(between), []), strict=False):
            names[i] = name
    return ColumnLayout(
        _named(names, head.header), head.divider,
        tuple(dialects[i] or USUAL for i, name in enumerate(names) if name == "tag"),
        rest=rest, inline=head.inline, header=head.header, unread=tuple(unread),
    )  # fmt: skip


def _are_phrases(values: Sequence[str]) -> bool:
    """Return whether brackets are about phrases of a parse or arguments of a predicate."""
    kinds = {tag[2:] for value in values for tag in read_tag(value, _IN_BRACKETS) or ()}
    return all(kind in _PHRASES or _ARGUMENT.fullmatch(kind) for kind in kinds)


def _roles(head: _Head) -> list[str]:
    """Return the names of columns that the header gives: the word, and numbers of sentences and documents."""
    plain = [_plain(name) for name in head.header[: head.width]]
    plain += [""] * (head.width - len(plain))
    names = [_ROLES.get(name, "") for name in plain]
    if (word := next((i for i, name in enumerate(plain) if name in _WORD_NAMES), None)) is not None:
        names[word] = "word"
    return names


def _leading(rows: _Rows, width: int) -> list[str]:
    """Return the names of the first columns that hold numbers of tokens or sentences; others are empty."""
    names = [""] * width
    for i in range(width - 2):
        names[i] = _number([[row[i] for row in sentence] for sentence in rows])
        if not names[i]:
            break
    if names.count(SENTENCE) > 1:
        names[names.index(SENTENCE)] = DOCUMENT
    return names


def _number(sentences: list[list[str]]) -> str:
    """Return what the values of a column before the words count; empty if they are words."""
    values = [value for sentence in sentences for value in sentence]
    numbered = [[_OF_SENTENCE.fullmatch(value) for value in sentence] for sentence in sentences]
    if values and all(all(found and int(found[1]) == at for at, found in enumerate(one, 1)) for one in numbered):
        return "_"  # of sentence and token, as in WebAnno's TSV 2
    if counts := all(value.isascii() and value.isdigit() and len(value) < 10 for value in values):
        numbers = [list(map(int, sentence)) for sentence in sentences]
        from_one = sum(sentence == list(range(1, len(sentence) + 1)) for sentence in numbers)
        if from_one < len(numbers) and all(b == a + 1 for sentence in numbers for a, b in pairwise(sentence)):
            return "_"  # numbers of the whole file
        if 2 * from_one >= len(numbers):
            return "id"  # others in a sentence are errors
    # an empty value is that of the line before
    filled = accumulate(values, lambda last, value: value or last, initial="")
    runs = [value for value, _ in groupby(islice(filled, 1, None))]
    if len(sentences) == 1 and 1 < len(runs) <= len(values) / 3 and (counts or len(set(runs)) == len(runs)):
        return SENTENCE
    inside = sum(len(sentence) for sentence in sentences if len(sentence) > 1 and len(set(sentence)) == 1)
    return "_" if inside > 0.8 * len(values) and not detect(values) else ""


def _word(names: Sequence[str], dialects: Sequence[TagDialect | None], typed: Sequence[bool]) -> int:
    """Return the column of words: the first, or the second if the first alone holds tags."""
    first, *rest = [i for i, name in enumerate(names) if not name]
    before = typed[first] and rest and not any(dialects[i] for i in rest)
    return rest[0] if before else first


def _again(tags: Sequence[int], names: list[str], dialects: Sequence[TagDialect | None], head: _Head) -> list[int]:
    """Return the columns of tags that mark the mentions of others again."""
    plain = [_plain(name) for name in head.header]
    found: list[int] = []
    seen: set[tuple[int, int, int]] = set()
    for i in tags:
        dialect = dialects[i] or USUAL
        layout = ColumnLayout(tuple("tag" if k == i else "_" for k in range(head.width)), head.divider, (dialect,))
        sound = [one for one in enumerate(head.fit) if all(read_tag(row[i], dialect) is not None for row in one[1])]
        spans = {(number, first, end) for number, rows in sound for first, end, _ in layout.mentions(rows)}
        if (i < len(plain) and plain[i] in _AGAIN) or (len(spans) > 1 and 3 * len(spans & seen) >= 2 * len(spans)):
            found.append(i)
        else:
            seen |= spans
    return found


def _named(names: Sequence[str], header: Sequence[str]) -> tuple[str, ...]:
    """Return names for all columns: those that have none are called as in the header, or by their number."""
    found = list(names)
    for i, name in enumerate(found):
        if not name:
            given = _plain(header[i]).replace(" ", "_") if i < len(header) else ""
            taken = not given or given in SPECIAL or given in found
            found[i] = f"column{i + 1}" if taken else given
    return tuple(found)


def _no_tags(values: Sequence[str]) -> str:
    """Return the message for a file without a column of tags."""
    counts = Counter(values)
    wrong = next((value for value in values if read_tag(value) is None), values[-1])
    if any(map(_GAPS.match, counts)):
        looks = "tags such as DB-x and HB-x, of mentions with gaps (BIOHD), are not read: convert them to spans"
    elif all(value.isdigit() for value in counts):
        looks = "the last one holds numbers: put the names of tags in their place"
    elif len(counts) <= 100 and len(counts) < len(values):
        looks = "if the last one holds types without letters and without O, name it tag"
    else:
        looks = "if another holds them, name it tag"
    return (
        f"no column holds tags (the last one has {clip(wrong[:40])}); expected O, B-type, I-type or other letters of "
        f"BIOES and BILOU, or types between O; {looks}: {_HOW}"
    )


def is_tagged(sentences: Sequence[Sequence[str]], marked: bool = False) -> bool:
    """Return whether the first lines of a file are those of a column file: a word and a tag in nearly all of them.

    Args:
        sentences: lines between blank lines.
        marked: whether other lines are those of column files, so that valid tags are enough.

    >>> is_tagged([["No O", "fever B-problem"]]), is_tagged([["Vitamin B-6", "Vitamin B-12"]])
    (True, False)
    """
    if not (lines := [line for sentence in sentences for line in sentence]):
        return False
    items = [line.split() for line in lines]
    if sum(map(len, items)) > _LONGEST * len(items) and _inline_divider(items) is None:
        return False
    layout = guessed_layout(sentences)
    if isinstance(layout, str) or not layout.tags:
        return False
    tokens = [token for line in lines for token in (line.split() if layout.inline else [line])]
    rows = [row for row in map(layout.fields, tokens) if tuple(row) != layout.header]
    good = [row for row in rows if layout.has_width(row) and row[layout.word] and layout.wrong_tag(row) is None]
    if not good or len(good) < _MOST * len(rows):
        return False
    if marked:
        return True
    values = [value.strip(" ") for row in good for where in layout.tag_fields for value in row[where]]
    words = [row[layout.word] for row in good]
    return _are_surely_tags(values, layout.dialects[0], words, layout.inline or 2 * len(sentences) <= len(words))


def _are_surely_tags(values: Sequence[str], dialect: TagDialect, words: Sequence[str], in_sentences: bool) -> bool:
    """Return whether values must be tags, even if nothing else indicates that the file holds tags."""
    tags = [tag for value in values for tag in read_tag(value, dialect) or ()]
    outside = sum(value in ("O", "o") for value in values)
    if not tags:
        return outside == len(values) > 2
    types = {tag[2:] for tag in tags}
    if dialect.divider and types != {UNTYPED}:
        weak = ("", "-", "*") if (dialect.divider, dialect.last) == ("-", False) else ("", "-", "*", "_")
        marked = sum(value in dialect.outside for value in values if value not in weak)
        several = marked > 0 or len({tag[0] for tag in tags}) > 1
        return len(words) > 1 and several and any(any(map(str.isalpha, kind)) for kind in types)
    typed = not dialect.divider and 2 * sum(len(kind) > (1 if "o" in values else 2) for kind in types) > len(types)
    is_text = any(not any(map(str.isalnum, word)) for word in words) or in_sentences
    return 2 * outside >= len(values) and is_text and (typed or {"B-mention"} <= set(tags))
