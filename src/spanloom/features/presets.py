"""Presets: sets of templates by name; those named after a corpus follow the papers' lists word for word."""

from __future__ import annotations

# Lu & Roth (2015), section 3.5, and Muis & Lu (2017), appendix B. The features that these papers take from the output
# (node type, edge type) are the roles of a structure; `bias` is a role's own weight.
_CLUSTERS = (
    "cluster[-1..1] cluster:4[-1..1] cluster:6[-1..1] cluster:10[-2..2] cluster:10[-1]|cluster:10[0] "
    "cluster:10[0]|cluster:10[1] cluster:6[-1]|cluster:6[0]|cluster:6[1]"
)
_TEXTS = {
    "ace": "bias w[-3..3] pos[-3..3] ngrams(w,2..4) ngrams(pos,2..4) bag(w,-5,5) orth[0]",
    "genia": (
        "bias w[-2..2] pos[-2..2] ngrams(w,2..4) ngrams(pos,2..4) bag(w,-5,5) cluster[-1..1] shape[0] prefix(1..6) "
        "suffix(1..6)"
    ),
    "conll": (
        "bias w[-2..2] pos[-2..2] ngrams(w,2..4) ngrams(pos,2..4) bag(w,-5,5) shape[-2..2] prefix(1..5) "
        "suffix(1..5) orth[0]"
    ),
    "biomedical": (
        "bias w[-2..2] low[-2..2] low[-1]|low[0] low[0]|low[1] pos[-2..2] ngrams(w,2..3) ngrams(pos,2..4) "
        f"{_CLUSTERS} norm[0] shape[-1..1] short_shape[0] prefix(1..6) suffix(1..6) orth[0] w:-3[-2] w:-3[-1] "
        "w:-3[1] w:-3[2]"
    ),
    # Muis & Lu (2016), section 5.2, in the order of the text. Of orthography it names prefix, suffix, capitalization,
    # and lemma; of clusters all subpaths of the bit strings.
    "clinical": (
        "bias w[-3..3] w[-3]|w[0] w[-2]|w[0] w[-1]|w[0] w[0]|w[1] w[0]|w[2] w[0]|w[3] ngrams(w,2..3) pos[0] "
        "ngrams(pos,2..3) prefix(1..6) suffix(1..6) upper[0] title[0] lemma[0] note[0] section[0] cluster(1..20) "
        "category[0]"
    ),
    # The 23 features a token of a usual tutorial: 9 of the word, 7 of each neighbour.
    "small": (
        "bias low[0] w:-3[0] w:-2[0] upper[0] title[0] digit[0] pos[0] pos:2[0] low[-1] w:-3[-1] upper[-1] "
        "title[-1] digit[-1] pos[-1] pos:2[-1] low[1] w:-3[1] upper[1] title[1] digit[1] pos[1] pos:2[1]"
    ),
    # The next two are points of the path of a search over groups of templates, on development data of six corpora
    # (benchmarks/feature_search.py): the last one, and the best at 0.4 points of F1 for each feature a token. No
    # template of `fast` reads parts of speech, so no tagger runs. Clusters, which need a file, were not searched.
    "best": (
        "bias w[-1..1] low[-1..1] norm[0] low[-1]|low[0] low[0]|low[1] prefix(1..4) suffix(1..4) w:-3[-2] w:-3[-1] "
        "w:-3[1] w:-3[2] shape[-1] shape[1] shape[-1]|shape[0] shape[0]|shape[1] shape[-1]|shape[0]|shape[1] "
        f"orth[0] ngrams(pos,2..4) {_CLUSTERS}"
    ),
    "fast": (
        "bias w[-1..1] low[-1..1] norm[0] prefix(1..4) suffix(1..4) w:-3[-2] w:-3[-1] w:-3[1] w:-3[2] "
        "shape[-1]|shape[0] shape[0]|shape[1] shape[-1]|shape[0]|shape[1] cluster[-1..1] cluster:4[-1..1] "
        "cluster:6[-1..1] cluster:10[-2..2]"
    ),
}
PRESETS: dict[str, tuple[str, ...]] = {name: tuple(text.split()) for name, text in _TEXTS.items()}
