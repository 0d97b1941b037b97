"""The verbs of `spanloom lab`, which the command line finds by the entry point ``spanloom.verbs``.

The functions have no body, as in `spanloom.cli.app`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from spanloom.cli import options as core
from spanloom.cli.options import Columns, Format, InputFormat, Jobs, Json, Seed, argument, option
from spanloom.cli.verbs import Training, app, kinds, verb
from spanloom_lab.cli import options

EXAMPLES: Final = {
    "lab": """\
spanloom lab ambiguity --structure shared --length 4
spanloom lab compare --train notes/train --test notes/test --output compared""",
    "lab ambiguity": """\
spanloom lab ambiguity --structure shared --length 4
spanloom lab ambiguity notes --structure seven_tag --structure split""",
    "lab cascade": """\
spanloom lab cascade --train notes/train --dev notes/dev --output model""",
    "lab clusters": """\
spanloom lab clusters notes.txt --size 100 --output paths""",
    "lab compare": """\
spanloom lab compare --train notes/train --test notes/test \\
    --structure separators --structure shared --output compared""",
    "lab features": """\
spanloom lab features --train notes/train --dev notes/dev --output search.json""",
    "lab heads": """\
spanloom lab heads last notes.jsonl --output with-heads.jsonl""",
    "lab language-model": """\
spanloom lab language-model --train raw.txt --order 3 --output lm.arpa.gz""",
}

_CASCADE: Final = "spanloom_lab.cascade_parameters:CascadeParameters"
_RECOGNIZER: Final = "spanloom.recognize.parameters:RecognizerParameters"

_lab: Final = kinds("Reproduce tables of the papers, and search for features and structures.", EXAMPLES["lab"])
app.add_typer(_lab, name="lab")


def _verb(name: str, **given: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return verb(name, _lab, examples=EXAMPLES[name], **given)


@_verb("lab cascade", place="spanloom_lab.cli.cascade:run", parameters=_CASCADE, around=[Training])
def _cascade() -> None:
    """Train a chain for each type, each of which sees the outputs of the earlier ones: a baseline."""


@_verb("lab compare", place="spanloom_lab.cli.compare:run", was="compare", parameters=_RECOGNIZER)
def _compare(
    train: core.Train = None,
    dev: core.Dev = None,
    test: options.ComparedTest = None,
    output: options.ComparedOutput = None,
    config: core.Config = None,
    structure: options.ComparedStructures = None,
    counting: options.ComparedCountings = None,
    l2: options.ComparedLambdas = None,
    *,
    heads: options.ComparedHeads = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: core.OnError = None,
    as_json: Json = False,
    as_markdown: Annotated[bool, option("--markdown", "Print the table as Markdown.")] = False,
    force: Annotated[bool | None, option("--force", "Train all models again.", show_default=False)] = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: core.QuietOrConfig = None,
) -> None:
    """Train several structures on the same data, tune each, and write one table of how they do."""


@_verb("lab features", place="spanloom_lab.cli.features:run", parameters=_RECOGNIZER, without=["features"])
def _features(
    train: core.Train = None,
    dev: core.Dev = None,
    output: options.SearchRecord = None,
    config: core.Config = None,
    groups: options.FeatureGroups = None,
    start: options.SearchStart = None,
    direction: options.SearchDirection = None,
    price: options.SearchPrice = None,
    level: options.SearchLevel = None,
    steps: options.SearchSteps = None,
    seconds: options.SearchSeconds = None,
    tokens: options.SearchTokens = None,
    l2: core.TriedLambdas = None,
    *,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: core.OnError = None,
    as_json: Json = False,
    force: options.ForceRecord = None,
    seed: Seed = None,
    jobs: options.Trials = None,
    quiet: core.QuietOrConfig = None,
) -> None:
    """Search for features: groups of templates that are worth their time, by F1 on development data."""


@_verb("lab heads", place="spanloom_lab.cli.heads:heads", was="heads", shared="input_format force quiet")
def _heads(
    rule: Annotated[str, argument("RULE", "whole, first or last (word).", known="whole first last")],
    source: Annotated[str, argument("INPUT", "A file, a folder, or - for standard input.")],
    output: Annotated[str, option("--output -o OUT", "Output file or folder.")] = "-",
    output_format: Format = None,
) -> None:
    """Give each mention the head that a rule finds: a baseline for the structure heads."""


@_verb("lab ambiguity", place="spanloom_lab.cli.ambiguity:run", was="ambiguity", shared="input_format as_json quiet")
def _ambiguity(
    data: options.ReadBack = None,
    structure: options.AmbiguousStructures = None,
    components: options.AmbiguousComponents = None,
    length: options.AmbiguousLength = None,
    against: options.AmbiguousAgainst = None,
) -> None:
    """Count a structure's encodings; with DATA, show what is lost when gold mentions are encoded and read back."""


@_verb("lab clusters", place="spanloom_lab.cli.heads:clusters", shared="input_format force quiet")
def _clusters(
    sources: Annotated[list[str], argument("TEXT", "Files, folders, or - for standard input.")],
    output: Annotated[str, option("--output -o PATHS", "Where the clusters go.", show_default=False)],
    size: Annotated[int, option("--size N", "Number of clusters.", min=2)] = 500,
    min_count: Annotated[int, option("--min-count N", "Leave out rarer words.", min=1)] = 1,
) -> None:
    """Cluster the words of text as Brown et al. (1992), for the columns cluster, cluster1 and so on."""


@_verb("lab language-model", place="spanloom_lab.cli.language_model:run", shared="input_format force quiet")
def _language_model(
    train: options.Texts = None,
    dev: options.PerplexityText = None,
    output: options.LanguageModelOutput = None,
    order: options.Order = None,
) -> None:
    """Train a word n-gram model on raw text, or convert one from the ARPA format of KenLM and SRILM, or to it."""
