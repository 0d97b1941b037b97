"""Options of the verbs of `spanloom lab`."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from spanloom.model.choices import Counting, Preset, StructureName

# of `lab ambiguity`
ReadBack = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="A file, a folder, or - for standard input; without it, encodings are counted.",
        show_default=False,
    ),
]
AmbiguousStructures = Annotated[
    list[str] | None,
    typer.Option(
        "--structure",
        metavar="NAME",
        help="The structure; with DATA several times for more. [shared; with DATA seven_tag, shared, split]",
        autocompletion=lambda: list(get_args(StructureName)),
    ),
]
AmbiguousComponents = Annotated[
    int | None,
    typer.Option("--components", min=1, metavar="N", help="Parts of a mention with gaps, at most. [3]"),
]
AmbiguousLength = Annotated[
    int | None, typer.Option("--length", min=1, max=100, metavar="N", help="Count for texts of 1 to N tokens. [5]")
]
AmbiguousAgainst = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="NAME",
        help="Another structure, for the relative ambiguity.",
        autocompletion=lambda: list(get_args(StructureName)),
    ),
]

# of `lab compare`
ComparedTest = Annotated[
    list[str] | None,
    typer.Option(
        "--test",
        metavar="DATA",
        help="Annotated documents to measure on, several times for more; without them, those of --dev.",
    ),
]
ComparedOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="DIR", help="Output folder; an interrupted run resumes from it."),
]
ComparedStructures = Annotated[
    list[str] | None,
    typer.Option(
        "--structure",
        metavar="NAME",
        help="As of train recognizer, cascade, or semi_markov:N with mentions of N tokens at most; several times "
        "for more.",
        autocompletion=lambda: [*get_args(StructureName), "cascade"],
    ),
]
ComparedCountings = Annotated[
    str | None,
    typer.Option(
        "--counting",
        metavar="NAME",
        help="both, subgraphs or derivations, where they differ. [both]",
        autocompletion=lambda: ["both", *get_args(Counting)],
    ),
]
ComparedLambdas = Annotated[
    list[float] | None,
    typer.Option("--l2", metavar="NUMBER", help="Weights of the L2 penalty to choose from. [0.1, 1 and 5]"),
]
ComparedHeads = Annotated[
    bool | None,
    typer.Option("--heads", help="Heads must match, too; where a model finds none, rules do.", show_default=False),
]

# of `lab features`
SearchRecord = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="RECORD",
        help="A file (JSON) that keeps each trial; an interrupted run resumes from it.",
    ),
]
FeatureGroups = Annotated[
    str | None,
    typer.Option("--groups", metavar="TOML", help="Groups of templates, in place of those that come along."),
]
SearchStart = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="PRESET",
        help="Features to start from, or none. [none]",
        autocompletion=lambda: [*get_args(Preset), "none"],
    ),
]
SearchDirection = Annotated[
    str | None,
    typer.Option(
        "--direction",
        metavar="NAME",
        help="forward, backward, or both, one after the other. [both]",
        autocompletion=lambda: ["forward", "backward", "both"],
    ),
]
SearchPrice = Annotated[
    float | None,
    typer.Option("--price", metavar="POINTS", help="Points of F1 that each feature a token must bring. [0.01]"),
]
SearchLevel = Annotated[
    float | None, typer.Option("--level", metavar="P", help="The largest p at which a difference counts. [0.1]")
]
SearchSteps = Annotated[
    int | None, typer.Option("--steps", min=1, metavar="N", help="Groups to add and remove, at most.")
]
SearchSeconds = Annotated[
    float | None, typer.Option("--seconds", metavar="N", help="Begin no trial after so many seconds.")
]
SearchTokens = Annotated[
    int | None,
    typer.Option("--tokens", min=1, metavar="N", help="Learn from documents of so many tokens, drawn by the seed."),
]
ForceRecord = Annotated[
    bool | None, typer.Option("--force", help="Replace a record of something else.", show_default=False)
]
Trials = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Trials at once; all cores if not given.")
]

# of `lab language-model`
Texts = Annotated[
    list[str] | None,
    typer.Option("--train", metavar="DATA", help="Training text in any format, or an .arpa file; repeatable."),
]
PerplexityText = Annotated[
    str | None, typer.Option("--dev", metavar="DATA", help="Text to report the perplexity of; not used in training.")
]
LanguageModelOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="OUT", help="Output model directory, or a file .arpa or .arpa.gz."),
]
Order = Annotated[
    int | None, typer.Option("--order", min=1, max=3, metavar="N", help="Order of the model, in words. [3]")
]
