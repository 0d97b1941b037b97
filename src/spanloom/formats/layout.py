"""Which column of a column file holds what, as told by the user, by the file, or by the first sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from spanloom.errors import UsageError, clip

TAG = re.compile(r"O|[BIESLUM](?:-.+)?")
CHUNK = "chunk"  # the column of phrases in the files of CoNLL-2003
_BEFORE_CHUNKS = {1: ["pos"], 2: ["lemma", "pos"]}  # how many columns stand between words and chunks: their names
_UNTYPED = "mention"  # the type of tags that are only a letter
_SPECIAL = ("word", "tag", "id", "_")
_NUMBER = re.compile(r"[0-9]+")
_NAMES = 120  # characters of the names of columns in a message
_FIELDS = re.compile(r"[ \t]+")
_KEYED = re.compile(r"# (newdoc|newpar|\S+ =)")
_MOST_FIELDS = 5  # of a token that looks like a comment
# the types of CoNLL-2000 and of CoNLL-2003, English and German
_CHUNKS = {"NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC", "PC", "AC"}


@dataclass(frozen=True)
class Layout:
    """The columns of a file.

    Args:
        names: one for each column: ``"word"``, ``"tag"`` (several are nested levels), ``"id"`` (numbers that are not
            kept), ``"_"`` (skipped), or the name of a column of the document, such as ``"pos"``.
        tabs: whether fields are separated by single tabs; otherwise by any blanks.
    """

    names: tuple[str, ...]
    tabs: bool

    def fields(self, line: str) -> list[str]:
        """The fields of a line."""
        return split(line, self.tabs)

    @cached_property
    def word(self) -> int:
        """Where the word stands."""
        return self.names.index("word")

    @cached_property
    def tags(self) -> list[int]:
        """Where tags stand."""
        return [i for i, name in enumerate(self.names) if name == "tag"]

    @cached_property
    def number(self) -> int | None:
        """Where the number of the token stands, if anywhere."""
        return self.names.index("id") if "id" in self.names else None

    @cached_property
    def others(self) -> dict[str, int]:
        """The columns that go into the document under their names."""
        return {name: i for i, name in enumerate(self.names) if name not in _SPECIAL}


def shown_names(names: Sequence[str]) -> str:
    """The names of columns in a message: the first ones, if there are very many.

    >>> shown_names(["ID", "FORM"]), shown_names(["word"] * 1000)[-11:]
    ('ID FORM', 'word word …')
    """
    shown = " ".join(names[:_NAMES])
    return shown if len(shown) <= _NAMES else shown[:_NAMES].rpartition(" ")[0] + " …"


def typed(tag: str) -> str:
    """A tag with a type, also where it is only a letter."""
    return tag if "-" in tag or tag == "O" else f"{tag}-{_UNTYPED}"


def bad_tag(tag: str) -> str:
    """What is wrong with what is no `TAG`."""
    return f"found the tag {clip(tag[:40])}, expected O or a letter of BIO, BILOU or BIOES, '-' and a type"


def split(line: str, tabs: bool) -> list[str]:
    """The fields of a line, at tabs or at any blanks."""
    return line.split("\t") if tabs else _FIELDS.split(line.strip(" \t"))


def is_comment(line: str) -> bool:
    """Whether a line before a sentence's first token is a comment, and not the token ``#``.

    >>> is_comment("# seen today"), is_comment("# text = No pain"), is_comment("# NN O")
    (True, True, False)
    """
    if not line.startswith("# "):
        return False
    if _KEYED.match(line):
        return True
    fields = split(line, tabs=False)
    return "\t" not in line and not (len(fields) <= _MOST_FIELDS and TAG.fullmatch(fields[-1]))


def named_layout(columns: Sequence[str], tabs: bool, width: int | None = None) -> Layout:
    """The layout that the user, or the file's ``# global.columns`` line, names.

    Args:
        columns: one name each; ``tag*`` at the end stands for as many columns of tags as there are.
        tabs: whether fields are separated by single tabs.
        width: how many columns the file has, if that is known.

    Raises:
        UsageError: no word column, or two columns of one name.
    """
    names = tuple(columns)
    if names[-1:] == ("tag*",):
        names = (*names[:-1], *("tag",) * max(1, (width or 0) - len(names) + 1))
    if names.count("word") != 1:
        raise UsageError(
            f"columns are {clip(' '.join(names), _NAMES)}; expected one 'word' among them, such as 'word pos tag'"
        )
    counts = Counter(names)
    twice = next((name for name in counts if name not in ("tag", "_") and counts[name] > 1), None)
    if twice is not None:
        raise UsageError(f"columns name {clip(twice)} twice; only 'tag' (nested levels) and '_' (skipped) may repeat")
    return Layout(names, tabs)


def guessed_layout(sentences: Sequence[Sequence[str]]) -> Layout | str:
    """The layout that the first sentences show; a message if none fits.

    The first column is the word, or the second if the first one counts the tokens from 1. The last column holds tags,
    and so do the columns right before it, as long as they look like tags (nested levels). If the last column holds
    something else, the last ones that look like tags count. The first of several columns of tags holds no mentions if
    its types are those of phrases (NP, VP), as in the files of CoNLL-2003: it is called ``chunk``, and what stands
    before it ``pos``, or ``lemma`` and ``pos``. Other columns are called ``column3`` and so on. Tags are
    what more than half of a column is: one wrong tag must not hide a column, it is reported when its line is read.

    Args:
        sentences: their lines, as they stand.

    >>> guessed_layout([["EU NNP B-ORG", "rejects VBZ O"]])
    Layout(names=('word', 'column2', 'tag'), tabs=False)
    >>> guessed_layout([["1\\tEU\\tB-ORG\\tO\\t-", "2\\trejects\\tO\\tO\\t-"]])
    Layout(names=('id', 'word', 'tag', 'tag', 'column5'), tabs=True)
    >>> guessed_layout([["EU NNP I-NP I-ORG", "rejects VBZ I-VP O"]])
    Layout(names=('word', 'pos', 'chunk', 'tag'), tabs=False)
    """
    tabs = "\t" in sentences[0][0]
    rows = [[split(line, tabs) for line in sentence] for sentence in sentences]
    width = Counter(len(row) for sentence in rows for row in sentence).most_common(1)[0][0]
    rows = [fit for sentence in rows if (fit := [row for row in sentence if len(row) == width])]
    if width == 1:
        return Layout(("word",), tabs)
    first = [row[0] for sentence in rows for row in sentence]
    numbered = width > 2 and all(sentence[0][0] == "1" for sentence in rows) and all(map(_NUMBER.fullmatch, first))
    names = ["id", "word"] if numbered else ["word"]
    names += [f"column{i}" for i in range(len(names) + 1, width + 1)]
    is_tags = [i > numbered and _mostly_tags([row[i] for sentence in rows for row in sentence]) for i in range(width)]
    if not any(is_tags):
        wrong = next(row[-1] for sentence in rows for row in sentence if not TAG.fullmatch(row[-1]))
        return (
            f"no column holds tags (the last one has {wrong[:40]!r}); "
            "expected O, B-type, I-type or other letters of BIOES and BILOU; name the columns with 'columns'"
        )
    last = max(i for i in range(width) if is_tags[i])
    first_tag = last
    while is_tags[first_tag - 1]:  # the word's column stops it
        first_tag -= 1
    names[first_tag : last + 1] = ["tag"] * (last + 1 - first_tag)
    if first_tag < last and _are_chunks([row[first_tag] for sentence in rows for row in sentence]):
        names[first_tag] = CHUNK
        between = slice(names.index("word") + 1, first_tag)
        names[between] = _BEFORE_CHUNKS.get(first_tag - between.start, names[between])
    return Layout(tuple(names), tabs)


def _are_chunks(tags: Sequence[str]) -> bool:
    kinds = {tag.partition("-")[2] for tag in tags if tag != "O"}
    return bool(kinds) and kinds <= _CHUNKS


def _mostly_tags(values: Sequence[str]) -> bool:
    return 2 * sum(TAG.fullmatch(value) is not None for value in values) > len(values)
