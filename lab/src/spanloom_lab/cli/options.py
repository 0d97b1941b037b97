"""Options of the verbs of `spanloom lab`."""

from __future__ import annotations

from typing import Annotated

from spanloom.cli.options import argument, option

# of `lab ambiguity`
ReadBack = Annotated[
    str | None, argument("DATA", "A file, a folder, or - for standard input; without it, encodings are counted.")
]
AmbiguousStructures = Annotated[
    list[str] | None,
    option(
        "--structure NAME",
        "The structure; with DATA several times for more. [shared; with DATA seven_tag, shared, split]",
        known="spanloom.model.choices:StructureName",
    ),
]
AmbiguousComponents = Annotated[
    int | None, option("--components N", "Parts of a mention with gaps, at most. [3]", min=1)
]
AmbiguousLength = Annotated[int | None, option("--length N", "Count for texts of 1 to N tokens. [5]", min=1, max=100)]
AmbiguousAgainst = Annotated[
    str | None,
    option(
        "--against NAME",
        "Another structure, for the relative ambiguity.",
        known="spanloom.model.choices:StructureName",
    ),
]

# of `lab compare`
ComparedTest = Annotated[
    list[str] | None,
    option("--test DATA", "Annotated documents to measure on, several times for more; without them, those of --dev."),
]
ComparedOutput = Annotated[str | None, option("--output -o DIR", "Output folder; an interrupted run resumes from it.")]
ComparedStructures = Annotated[
    list[str] | None,
    option(
        "--structure NAME",
        "As of train recognizer, cascade, or semi_markov:N with mentions of N tokens at most; several times for more.",
        known="spanloom.model.choices:StructureName cascade",
    ),
]
ComparedCountings = Annotated[
    str | None,
    option(
        "--counting NAME",
        "both, subgraphs or derivations, where they differ. [both]",
        known="both spanloom.model.choices:Counting",
    ),
]
ComparedLambdas = Annotated[
    list[float] | None, option("--l2 NUMBER", "Weights of the L2 penalty to choose from. [0.1, 1 and 5]")
]
ComparedHeads = Annotated[
    bool | None, option("--heads", "Heads must match, too; where a model finds none, rules do.", show_default=False)
]

# of `lab features`
SearchRecord = Annotated[
    str | None, option("--output -o RECORD", "A file (JSON) that keeps each trial; an interrupted run resumes from it.")
]
FeatureGroups = Annotated[
    str | None, option("--groups TOML", "Groups of templates, in place of those that come along.")
]
SearchStart = Annotated[
    str | None,
    option("--start PRESET", "Features to start from, or none. [none]", known="spanloom.model.choices:Preset none"),
]
SearchDirection = Annotated[
    str | None,
    option(
        "--direction NAME",
        "forward, backward, or both, one after the other. [both]",
        known="forward backward both",
    ),
]
SearchPrice = Annotated[
    float | None, option("--price POINTS", "Points of F1 that each feature a token must bring. [0.01]")
]
SearchLevel = Annotated[float | None, option("--level P", "The largest p at which a difference counts. [0.1]")]
SearchSteps = Annotated[int | None, option("--steps N", "Groups to add and remove, at most.", min=1)]
SearchSeconds = Annotated[float | None, option("--seconds N", "Begin no trial after so many seconds.")]
SearchTokens = Annotated[
    int | None, option("--tokens N", "Learn from documents of so many tokens, drawn by the seed.", min=1)
]
ForceRecord = Annotated[bool | None, option("--force", "Replace a record of something else.", show_default=False)]
Trials = Annotated[int | None, option("--jobs -j N", "Trials at once; all cores if not given.", min=1)]

# of `lab language-model`
Texts = Annotated[
    list[str] | None, option("--train DATA", "Training text in any format, or an .arpa file; repeatable.")
]
PerplexityText = Annotated[str | None, option("--dev DATA", "Text to report the perplexity of; not used in training.")]
LanguageModelOutput = Annotated[
    str | None, option("--output -o OUT", "Output model directory, or a file .arpa or .arpa.gz.")
]
Order = Annotated[int | None, option("--order N", "Order of the model, in words. [3]", min=1, max=3)]
