"""Lou et al. (2017): recognition and normalization of diseases."""

from __future__ import annotations

from paper_tables import ANY, Ours, Sentence, Table, beside, joined, ours

OWN, PAPER = "linking", "linking_paper"  # records: ours, and the paper's model with what lies between the two
MENTIONS, CONCEPTS = "F1", "F1#2"
DEV, TEST = "bc5cdr: development data", "bc5cdr: test data, trained on train"
BOTH, NCBI = "bc5cdr: test data, trained on train and development data", "ncbi: test data, trained on train"
COUNTED = "as the authors count: concepts, F1"
COLUMNS = (
    "model", "paper: mentions", "ours", "paper: concepts, as the authors count", "ours, as the authors count",
    "ours, concepts of documents",
)  # fmt: skip
STATISTICS = ("ours: articles", "mentions#2", "different concepts", "concepts, once an article")
KINDS = "bc5cdr: kinds of errors on test data, trained on train"
PATH = "bc5cdr: from the paper's joint model to ours"
FOUND = (("correct", "correct"), ("correct", "wrong"), ("wrong", "correct"), ("wrong", "wrong"))
AS_PAPER = "bc5cdr, trained on train: pipeline against joint, gold mentions"
AS_OURS = "bc5cdr, trained on train: ours, pipeline against ours, gold mentions"
OURS = (
    ("*ours*, the default", "ours"), ("*ours*, language model", "ours, language model"),
    ("*ours*, clusters", "ours, clusters"),
)  # fmt: skip
OTHERWISE = (
    ("joint, one candidate", "joint, one candidate"), ("joint, all answers known", "joint, all answers known"),
)  # fmt: skip
CHANGED = ("model", "ours, development data", "ours, test data", "ours, accuracy of concepts on development data")


def row(label: str, name: str, title: str, mentions: str = "", concepts: str = "", record: str = PAPER) -> list[str]:
    """A model beside the paper's."""
    found = [measured(record, title, name, column) for column in (MENTIONS, COUNTED, CONCEPTS)]
    beside_paper = [
        one if one == "not run" else beside(paper, Ours(one))
        for paper, one in zip((mentions, concepts), found[:2], strict=True)
    ]
    return [label, mentions, beside_paper[0], concepts, beside_paper[1], found[2]]


def measured(record: str, title: str, name: str, column: str) -> str:
    """A cell of a row, or that the record has no such row or columns yet."""
    try:
        return ours(record, title, [name], column)
    except LookupError:
        return "not run"


def other(label: str, mentions: str, concepts: str) -> list[str]:
    """A system that the paper stands beside."""
    return [label, mentions, "", concepts, "", ""]


def own(label: str, name: str, title: str) -> list[str]:
    """A model that the paper does not have."""
    return row(label, name, title, record=OWN)


def pairs(record: str, title: str, task: str) -> str:
    """Mentions that both find, only the pipeline, only the joint model, neither."""
    try:
        return joined([ours(record, title, [task, a, b, ANY, ANY], "mentions") for a, b in FOUND], "; ")
    except LookupError:
        return "not run"


def kinds(label: str, paper: tuple[str, str], name: str) -> list[str]:
    """A row of Figure 4."""
    shares, boundary = ("DEN FN", "DEN FP", "DEN&DER FP"), "of these: boundary"
    return [label, paper[0], ours(PAPER, KINDS, [name], shares), paper[1], ours(PAPER, KINDS, [name], boundary)]


def changed(title: str, label: str, name: str) -> list[str]:
    """What lies between the paper's model and ours: F1 of mentions and of concepts."""
    dev = ours(PAPER, title, [name], ("development: F1 of mentions", "F1 of concepts"))
    test = ours(PAPER, title, [name], ("test: F1 of mentions", "F1 of concepts#2"))
    return [label, dev, test, ours(PAPER, title, [name], "accuracy of concepts")]


TABLES = {
    "lou-2017-4": Table(
        COLUMNS,
        [
            row("pipeline", "pipeline", DEV, "75.1", "61.8"),
            row("joint, local features", "joint, local features", DEV, "78.0", "80.8"),
            row("joint", "joint", DEV, "80.8", "81.7"),
            row("joint, language model", "joint, language model", DEV, "83.5", "85.0"),
            *(row(label, name, DEV) for label, name in OTHERWISE),
            *(own(label, name, DEV) for label, name in OURS),
        ],
    ),
    "lou-2017-5": Table(
        COLUMNS,
        [
            other("DNorm, as the paper cites it", "", "80.6"),
            other("LeadMine, as the paper cites it", "", "86.1"),
            row("pipeline", "pipeline", TEST, "75.0", "69.2"),
            row("joint", "joint", TEST, "82.6", "83.4"),
            row("joint, language model", "joint, language model", TEST, "83.8", "85.6"),
            *(row(label, name, TEST) for label, name in OTHERWISE),
            *(own(label, name, TEST) for label, name in OURS),
            other("TaggerOne, as the paper cites it", "82.6", "83.7"),
            other("AuDis, as the paper cites it", "", "86.5"),
            ["joint, language model", "86.2", "not run", "87.6", "not run", "not run"],
            own("*ours*, clusters", "ours, clusters", BOTH),
        ],
    ),
    "lou-2017-path": Table(
        CHANGED,
        [
            changed(PATH, "joint, as the paper", "joint"),
            changed(PATH, "+ our candidates", "+ our candidates"),
            changed(PATH, "+ features of spans and candidates, chain, words in short steps, margin, bias, history",
                    "ours, the paper's templates too"),
            changed(PATH, "without templates 2, 4b and 6 to 14: *ours*", "ours"),
        ],
    ),
    "lou-2017-6": Table(
        COLUMNS,
        [
            other("DNorm, as the paper cites it", "79.8", "78.2"),
            other("TaggerOne, as the paper cites it", "82.9", "80.7"),
            row("joint, language model", "joint, language model", NCBI, "82.1", "82.6"),
            own("*ours*, the default", "ours", NCBI),
            own("*ours*, as a pipeline", "ours, pipeline", NCBI),
            own("*ours*, clusters", "ours, clusters", NCBI),
        ],
    ),
    "lou-2017-7": Table(
        ("task", "paper", "ours, as the paper", "ours, the default"),
        [
            ["recognition", "2,970; 59; 481; 914", pairs(PAPER, AS_PAPER, "recognition"),
             pairs(OWN, AS_OURS, "recognition")],
            ["normalization, as the authors count", "2,800; 97; 762; 862",
             pairs(PAPER, AS_PAPER, "normalization, as the authors count"),
             pairs(OWN, AS_OURS, "normalization, as the authors count")],
            ["recognition and concept of one mention", "", pairs(PAPER, AS_PAPER, "recognition and concept"),
             pairs(OWN, AS_OURS, "recognition and concept")],
        ],
    ),
    "lou-2017-errors": Table(
        ("model", "paper: DEN FN, DEN FP, DEN&DER FP", "ours", "paper: of the last, boundary", "ours"),
        [
            kinds("joint", ("38 % / 14 % / 48 %", "63.3 %"), "joint"),
            kinds("*ours*, the default", ("", ""), "ours"),
        ],
    ),
}  # fmt: skip


def f1(record: str, title: str, name: str, column: str) -> str:
    """F1 of mentions, or with ``F1#2`` of concepts."""
    return ours(record, title, [name], column)


PAIRS = "bc5cdr, trained on train: paired tests"
EDIT = "BC5CDR: recall of candidates"
SENTENCES = [
    Sentence(
        "{} / {} on the test data of BC5CDR in the first, {} / {} in the second",
        [f1(record, TEST, "ours", column) for record in (PAPER, OWN) for column in ("F1", "F1#2")],
    ),
    Sentence("in mentions ({} against 82.6 and 83.8)", [f1(OWN, TEST, "ours", "F1")]),
    Sentence("as the authors do ({} against 83.4 and 85.6)", [f1(OWN, TEST, "ours", COUNTED)]),
    Sentence(
        "of the mentions that it finds it links {} % rightly on development data",
        [ours(PAPER, DEV, ["joint"], "accuracy of concepts")],
    ),
    Sentence(
        "Our pipeline has {} / {} of mentions and of documents' concepts,",
        [f1(OWN, TEST, "ours, pipeline", "F1"), f1(OWN, TEST, "ours, pipeline", "F1#2")],
    ),
    Sentence(
        "the pipeline has {} mentions and {} concepts less (p = {} and {})",
        [
            ours(OWN, PAIRS, ["ours", "ours, pipeline"], column).lstrip("+")
            for column in ("difference of F1, mentions", "difference of F1, concepts", "p", "p#2")
        ],
    ),
    Sentence(
        "hold the concept of {} % of the development mentions",
        [ours("candidates", EDIT, ["best", "yes", "yes"], "at 10")],
    ),
    Sentence(
        "joint model is ahead of the pipeline by {} in mentions and {} in concepts (p = {} and {})",
        [
            ours(PAPER, PAIRS, ["joint", "pipeline"], column)
            for column in ("difference of F1, mentions", "difference of F1, concepts", "p", "p#2")
        ],
    ),
    Sentence(
        "makes a difference of {} in mentions and {} in concepts (p = {} and {})",
        [
            ours(PAPER, PAIRS, ["joint, language model", "joint"], column)
            for column in ("difference of F1, mentions", "difference of F1, concepts", "p", "p#2")
        ],
    ),
    Sentence(
        "features are worth {} in concepts (p = {}), and in mentions {} (p = {})",
        [
            ours(PAPER, PAIRS, ["joint", "joint, local features"], column)
            for column in ("difference of F1, concepts", "p#2", "difference of F1, mentions", "p")
        ],
    ),
    Sentence(
        "{} % of the development mentions among ten candidates, and puts it first for {} %",
        [ours("candidates", EDIT, ["edit", "yes", "yes"], column) for column in ("at 10", "at 1")],
    ),
]
# figures that the papers say, and differences of two figures of a table
CITED = {
    "3,562", "3,451", "4,521", "4,424", "17.3", "0.5", "2.3", "0.7", "0.0001", "0.02", "81.7", "80.8", "1.18", "2.23",
    "4.2", "0.9", "2.8",
}  # fmt: skip
