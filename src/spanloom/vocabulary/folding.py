"""Names without their usual variation: case, accents, punctuation, word order, plurals, spelling, numerals, etc.

Words are folded one by one, and a name is the *multiset* of its folded words: "Diabetes Mellitus, Type 2" is "type II
diabetes mellitus". Its key is the sum of its words' hashes, so the key of any run of tokens is a difference of two
prefix sums, and all runs of a sentence cost one addition each.

There are two degrees. *Close* folding joins names of one meaning: they differ in spelling only. *Loose* folding also
joins names that often have one meaning: endings ("hypertensive", "hypertension"), Greek and Latin with English
("renal", "kidney"), and words for illness in general ("disease", "disorder", "syndrome").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import hashes, numbered
from spanloom.sparse import gathered
from spanloom.text import tokenize
from spanloom.text.patterns import pattern

EXACT, CLOSE, LOOSE = range(3)
DEGREES: Final = 3
_PART: Final = pattern(r"\d+(?:\.\d+)*|[^\W\d_]+")  # runs of digits and runs of letters
_POSSESSIVE: Final = pattern(r"(?<=\w)['’`´]s\b|^['’`´]s$")
_MEMORY: Final = 1 << 17  # words


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_EMPTY: Final = _set(
    "an and as by due for from in into nec nos of on or other otherwise specified the to type unspecified with"
)
"""Words that a name may have or lack; ``and`` and ``or`` too, since lists are written in many ways."""

_NUMERALS: Final = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi"
_ROMAN: Final = {roman: str(number) for number, roman in enumerate(_NUMERALS.split(), 1)}
_LETTERS: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon "
    "phi chi psi omega"
)
_GREEK: Final = dict(zip("αβγδεζηθικλμνξοπρςστυφχψω", _LETTERS.split(), strict=True))

_IRREGULAR: Final = {
    "feet": "foot", "teeth": "tooth", "children": "child", "men": "man", "women": "woman", "viscera": "viscus",
    "bacteria": "bacterium", "ganglia": "ganglion", "atria": "atrium", "septa": "septum", "calculi": "calculus",
    "lice": "louse", "mice": "mouse", "axes": "axis", "testes": "testis", "palsies": "palsy", "lenses": "lens",
    "vertices": "vertex", "cortices": "cortex", "indices": "index", "appendices": "appendix", "veins": "vein",
    "carcinomata": "carcinoma", "sarcomata": "sarcoma", "fibromata": "fibroma", "stigmata": "stigma",
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8",
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
}  # fmt: skip
_SPELLING: Final = (
    (re.compile("ae|oe"), "e"),  # anaemia, oedema
    (re.compile("our(?=s?$|ed$|al$|ing$|less$)"), "or"),  # tumour, behavioural
    (re.compile("(?<=.)is(?=ed?$|ation$|ing$)"), "iz"),  # generalised
    (re.compile("(?<=.)ys(?=ed?$|ing$)"), "yz"),  # paralysed
    (re.compile("^leuc"), "leuk"),
    (re.compile("sulph"), "sulf"),
    (re.compile("(?<=[bt])re$"), "er"),  # fibre, centre
    (re.compile("^grey$"), "gray"),
)
_NO_BRITISH: Final = _set("four hour hours pour your our sour aerial disease wise rise arise otherwise exercise")

_EASES: Final = _set(
    "diseases cases bases phases increases decreases gases releases kinases proteases lipases oxidases"
)

_ENDING: Final = pattern("(?:ically|ical|ic|ary|ally|al|ous|ive|ion|ian|ar|ity|ety|ia|y|is|ed|ing|e|us|um|a|ness)$")
_ILLNESS: Final = {
    "toxicity": "injury", "toxic": "injury", "toxin": "injury", "pathy": "disease", "pathic": "disease",
}  # fmt: skip
_COMBINING: Final = {
    "nephro": "kidney", "hepato": "liver", "cardio": "heart", "neuro": "nerve", "oto": "ear", "dermato": "skin",
    "myo": "muscle", "encephalo": "brain", "pneumo": "lung", "hemato": "blood", "gastro": "stomach",
    "arthro": "joint", "osteo": "bone", "angio": "vessel", "vasculo": "vessel", "immuno": "immune",
    "retino": "retina", "entero": "intestine",
}  # fmt: skip
_COMBINED: Final = pattern(f"({'|'.join(_COMBINING)})({'|'.join(_ILLNESS)})")
_SYNONYMS: Final = {
    word: group.split()[0]
    for group in (
        "disease disorder syndrome condition illness disturbance abnormality dysfunction impairment defect anomaly "
        "problem complication malfunction insufficiency",
        "injury damage toxicity toxic lesion trauma insult",
        "neoplasm tumor cancer carcinoma malignancy neoplasia neoplastic malignant tumorigenesis carcinogenesis tumour",
        "kidney renal nephric", "liver hepatic", "heart cardiac", "lung pulmonary", "brain cerebral encephalic",
        "stomach gastric", "eye ocular ophthalmic", "skin cutaneous dermal", "breast mammary", "blood hematologic "
        "hematological hematic", "tooth dental", "mental psychiatric psychological psychic", "bladder vesical",
        "muscle muscular", "bone osseous bony skeletal", "mouth oral", "hearing auditory", "vision visual sight",
        "nose nasal", "uterus uterine womb", "ovary ovarian", "testis testicular", "prostate prostatic",
        "esophagus esophageal", "pancreas pancreatic", "intestine intestinal bowel gut enteric", "spleen splenic",
        "retina retinal", "cornea corneal", "vein venous", "artery arterial", "aorta aortic", "atrium atrial",
        "ventricle ventricular", "thymus thymic", "face facial", "fetus fetal", "infant infantile newborn neonatal "
        "neonate", "child childhood juvenile pediatric", "colon colonic", "rectum rectal", "larynx laryngeal",
        "nerve neural", "joint articular", "vessel vascular", "lymph lymphatic", "ear aural", "tongue lingual",
        "throat pharyngeal pharynx", "hereditary familial inherited genetic heritable inheritable inborn",
        "bleeding hemorrhage hemorrhagic bleed", "seizure convulsion convulsive fit", "pain ache painful aching",
        "swelling edema edematous", "clot thrombus", "infection infected infectious", "loss lost deficit",
        "deficiency deficient lack", "acute sudden", "stone calculus lithiasis",
        "block blockade", "inflammation inflammatory inflamed", "death mortality fatal", "fever pyrexia febrile",
        "itching pruritus itch", "vomiting emesis", "low decreased reduced reduction decrease", "high increased "
        "elevated elevation increase", "drug medication", "stroke apoplexy",
    )
    for word in group.split()
}  # fmt: skip


def text_form(text: str) -> str:
    """A text without regard to case and to how its words are spaced."""
    return " ".join(text.casefold().split())


def fold_text(text: str, *, loose: bool = False) -> list[str]:
    """The folded words of a text, in its order.

    Args:
        text: a name or a mention.
        loose: fold loosely.

    >>> fold_text("Parkinson's Diseases, Type II"), fold_text("renal tumours of the spleen", loose=True)
    (['parkinson', 'disease', '2'], ['kidney', 'neoplasm', 'spleen'])
    """
    return [word for piece in text.split() for word in fold_word(piece)[loose]]


@lru_cache(_MEMORY)
def fold_word(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A word folded closely and loosely; each may be none, or several where the word holds punctuation.

    >>> fold_word("Haemorrhages"), fold_word("of")
    ((('hemorrhage',), ('bleeding',)), ((), ()))
    >>> fold_word("hypertensive"), fold_word("nephrotoxicity")
    ((('hypertensive',), ('hypertens',)), (('nephrotoxicity',), ('kidney', 'injury')))
    """
    low = word.casefold()
    if not low.isascii():
        low = "".join(_GREEK.get(c, c) for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c))
    plain = _POSSESSIVE.sub("", low)
    close = tuple(folded for part in _PART.findall(plain) if (folded := _close(part)) not in _EMPTY)
    return close, tuple(folded for part in close for folded in _loose(part))


class FoldedPieces(NamedTuple):
    """Texts cut at white space, Q texts of W words in all, D of them distinct.

    Args:
        distinct: the distinct words, D strings.
        ids: (W,) int64, the number of each word in ``distinct``.
        ptr: (Q + 1,) int64, where the words of each text begin in ``ids``.
    """

    distinct: list[str]
    ids: NDArray[np.int64]
    ptr: NDArray[np.int64]

    def take(self, texts: NDArray[np.int32]) -> FoldedPieces:
        """Some of the texts."""
        words, ptr = gathered(self.ptr, texts.astype(np.int64))
        return FoldedPieces(self.distinct, self.ids[words], ptr)


def pieces(texts: Sequence[str]) -> FoldedPieces:
    """Texts as numbers of distinct words.

    >>> pieces(["atrial flutter", "", "atrial fibrillation"]).ids.tolist()
    [0, 1, 0, 2]
    """
    lists = [text.split() for text in texts]
    ptr = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return FoldedPieces(*numbered(list(chain.from_iterable(lists))), ptr)


def prefix_sums(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(W + 1,) sums of the first 0, 1, ... of W values, modulo 2^64.

    A run of words from ``a`` to ``b`` has the key ``sums[b] - sums[a]``.

    >>> prefix_sums(np.array([2, 3], np.uint64)).tolist()
    [0, 2, 5]
    """
    return np.append(np.uint64(0), np.cumsum(values))


def text_keys(words: FoldedPieces) -> NDArray[np.uint64]:
    """The keys of texts by degree, (3, Q): 0 for ``EXACT``, and where a text has no folded word.

    A text's key is the sum of the hashes of its folded words, token by token, as that of a run of a document's tokens
    (see `spanloom.vocabulary.lexicon`).

    >>> keys = text_keys(pieces(["Type-II", "2", "renal", "Kidneys", "of"]))
    >>> [bool(a == b) for a, b in ((keys[1, 0], keys[1, 1]), (keys[2, 2], keys[2, 3]), (keys[1, 4], 0))]
    [True, True, True]
    """
    folded = [fold_tokens(word) for word in words.distinct]
    keys = np.zeros((DEGREES, len(words.ptr) - 1), np.uint64)
    for degree in (CLOSE, LOOSE):
        sums = prefix_sums(sums_of_words([both[degree - CLOSE] for both in folded])[words.ids])
        keys[degree] = sums[words.ptr[1:]] - sums[words.ptr[:-1]]
    return keys


@lru_cache(_MEMORY)
def fold_tokens(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As `fold_word`, token by token: of ``16p11.2`` a tokenizer makes more than one word."""
    if (word.isascii() and word.isalpha()) or not fold_word(word)[0]:  # the latter are such as 's behind a blank
        return fold_word(word)
    folded = [fold_word(word[start:end]) for start, end in tokenize(word).tolist()]
    return tuple(part for close, _ in folded for part in close), tuple(part for _, loose in folded for part in loose)


def sums_of_words(texts: Sequence[Sequence[str]]) -> NDArray[np.uint64]:
    """(Q,) the sum of the hashes of each text's folded words."""
    sums = prefix_sums(hashes(list(chain.from_iterable(texts))))
    ends = np.cumsum([len(words) for words in texts], dtype=np.int64)
    return np.diff(sums[ends], prepend=np.uint64(0))


def _close(part: str) -> str:
    """One word in lower case: its singular in American spelling, or its number."""
    if part in _ROMAN:
        return _ROMAN[part]
    if part in _IRREGULAR:
        return _IRREGULAR[part]
    if len(part) > 3 and part not in _NO_BRITISH:
        for pattern, american in _SPELLING:
            part = pattern.sub(american, part)
    return _singular(part)


def _singular(word: str) -> str:
    """Without the ending of the plural; ``thromboses`` and ``thrombosis`` are one, ``diseases`` and ``disease`` too."""
    if len(word) < 4 or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 5 else word[:-1]
    if word.endswith(("oses", "yses", "eses", "ises")) or (word.endswith("ases") and word not in _EASES):
        return word[:-2] + "is"
    if word.endswith(("ches", "shes", "sses", "xes", "zes", "uses")):
        return word[:-2]
    if word.endswith(("us", "is")):
        return word
    if word.endswith(("emboli", "thrombi", "calculi", "bacilli", "nuclei", "fungi", "nevi", "cocci", "polypi")):
        return word[:-1] + "us"
    return word[:-1] if word[-1] == "s" else word


def _loose(word: str) -> tuple[str, ...]:
    """Return a closely folded word in plain English, without its ending if four letters stay."""
    if match := _COMBINED.fullmatch(word):
        return _COMBINING[match[1]], _ILLNESS[match[2]]
    if word in _SYNONYMS:
        return (_SYNONYMS[word],)
    match = _ENDING.search(word, 4)
    if not match:
        return (word,)
    stem = word[: match.start()]  # ``psychotic`` and ``psychosis`` are one
    return (stem[:-1] + "s" if stem[-1] == "t" and match[0] in ("ic", "ical", "ically") else stem,)
