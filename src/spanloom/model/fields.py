"""Parameters of estimators, declared once: constructor, checks, command line, TOML and documentation come from here.

A parameter is a field of a dataclass, which declares its possible values: ``epochs: int = EPOCHS(30)``. Nothing here
loads NumPy, so that `--help` need not wait for it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, get_args

from spanloom.model.choices import Optimizer, Passes

LAMBDAS = (0.1, 1.0, 3.0)
"""The weights of the L2 penalty that are tried by default; which one is best differs from corpus to corpus."""

MOST_WHOLE = (1 << 63) - 1
"""The largest whole number that arrays hold."""

_PARAMETER = "parameter"


@dataclass(frozen=True)
class Parameter:
    """Declaration of a parameter: its possible values and its help; any text, unless a subclass restricts it.

    Args:
        help: on the command line.
        doc: in Python, where it differs.
        metavar: what stands for the value on the command line; of a switch, what on and off are called.
        shown: the default as shown to users, where it is not the value itself.
        option: the name of the option, where it is not the parameter's; ``None`` for a parameter without an option.
        several: whether the option may occur several times.
        toml: the type in a configuration file, where it is not that of the option.
        words: values that a shell offers.
    """

    help: str
    doc: str = ""
    _: KW_ONLY
    metavar: str = "NAME"
    shown: str = ""
    option: str | None = ""
    several: bool = False
    toml: Any = None
    words: tuple[str, ...] = ()
    type: ClassVar[Any] = str  # on the command line

    def __call__(self, default: Any) -> Any:
        """A field of a dataclass."""
        return field(default=default, metadata={_PARAMETER: self})

    def default(self, value: Any) -> str:
        """A default as shown to users."""
        if self.shown or value is None or value == ():
            return self.shown
        return value if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter):
    """A whole number.

    Args:
        least: that it may be.
        most: that it may be.
        none: whether it may be ``None`` instead.
    """

    metavar: str = "N"
    least: int = 1
    most: int = MOST_WHOLE
    none: bool = False
    type: ClassVar[Any] = int


@dataclass(frozen=True, kw_only=True)
class Folder(Parameter):
    """The path of a folder, or ``None``."""

    metavar: str = "FOLDER"


@dataclass(frozen=True, kw_only=True)
class Number(Parameter):
    """A number above 0.

    Args:
        zero: whether it may be 0.
        share: of how much of the largest number that models may hold it is at most.
    """

    metavar: str = "NUMBER"
    zero: bool = False
    share: float = 1.0
    type: ClassVar[Any] = float


@dataclass(frozen=True, kw_only=True)
class Probability(Parameter):
    """A number between 0 and 1."""

    metavar: str = "P"
    type: ClassVar[Any] = float


@dataclass(frozen=True, kw_only=True)
class Lambdas(Parameter):
    """Weights of the L2 penalty: a number from 0, or several to choose from, or ``None`` for `tried`."""

    metavar: str = "NUMBER"
    several: bool = True
    toml: Any = float | list[float]
    tried: tuple[float, ...] = LAMBDAS
    type: ClassVar[Any] = float

    def default(self, value: Any) -> str:
        """Return the values that are tried, as shown to users."""
        *first, last = (f"{number:g}" for number in self.tried)
        return f"{', '.join(first)} and {last}"


@dataclass(frozen=True, kw_only=True)
class Switch(Parameter):
    """True or false; with a type of its own in TOML, perhaps something else, which its owner checks."""

    metavar: str = "with/without"
    type: ClassVar[Any] = bool

    def default(self, value: Any) -> str:
        """Return the name of the default: that of on or of off."""
        return self.metavar.split("/")[not value]


@dataclass(frozen=True, kw_only=True)
class Choice(Parameter):
    """One of some names.

    Args:
        names: a ``Literal``.
        templates: what the names are of, where it may also be a list of templates.
    """

    names: Any = None
    templates: str = ""

    @property
    def known(self) -> tuple[str, ...]:
        """The names."""
        return get_args(self.names)


@dataclass(frozen=True, kw_only=True)
class Texts(Parameter):
    """A list of texts.

    Args:
        none: whether it may be ``None`` instead.
    """

    several: bool = True
    toml: Any = list[str]
    none: bool = False


class Declared(NamedTuple):
    """A parameter of an estimator: its name, what it may be, and its default."""

    name: str
    parameter: Parameter
    default: Any


def declared(parameters: Any) -> Iterator[Declared]:
    """The parameters of an estimator, or of the dataclass that declares them, in their order."""
    for one in fields(parameters):
        yield Declared(one.name, one.metadata[_PARAMETER], one.default)


def documented(text: str, parameters: Any) -> str:
    """A docstring in which the line ``{parameters}`` stands for the arguments of the constructor."""
    lines = (
        "Args:",
        *(f"    {name}: {parameter.doc or parameter.help}" for name, parameter, _ in declared(parameters)),
    )
    wrapped = (textwrap.fill(line, 116, subsequent_indent=" " * 8, break_on_hyphens=False) for line in lines)
    return text.replace("    {parameters}\n", textwrap.indent("\n".join(wrapped), "    ") + "\n")


# of several estimators
JOBS = Whole("", "threads; -1 for all cores. The result does not depend on it.", none=True, least=-(2**31), option=None)
SEED = Whole("", "the seed.", least=0, option=None)
OPTIMIZER = Choice("adagrad or lbfgs.", "``adagrad``, or ``lbfgs`` for the optimum itself.", names=Optimizer)
L2 = Lambdas(
    "Weight of the L2 penalty; repeatable, the best on --dev is used.",
    "lambda; several are tried, and development F1 decides. ``None`` for 0.1, 1 and 3.",
)
EPOCHS = Whole(
    "Maximum passes of adagrad.",
    "passes of AdaGrad at most; it stops when development F1 no longer rises, and the best is kept.",
)
ITERATIONS = Whole("Maximum iterations of lbfgs.", "of L-BFGS, at most.")
RATE = Number("Initial step size of adagrad.", "AdaGrad's first step.")
CLUSTERS = Parameter(
    "Word clusters: a paths file, or the number to induce.",
    "Word clusters: a ``paths`` file, or how many Brown clusters to induce from the text at hand; ``None`` for none.",
    metavar="PATHS",
    toml=str | int,
)
VECTORS = Parameter(
    "Word vectors: text, word2vec's .bin, or .npy or .safetensors beside a .txt of words; or an encoder's folder.",
    "word vectors, which are dense columns of features (see `spanloom.features.word_vectors`): a file of text as "
    "word2vec and GloVe write it, word2vec's ``.bin``, or ``.npy`` or ``.safetensors`` with the words in a ``.txt`` of "
    "the same name, one a line. A preset then has the template ``vector[-1..1]``. Or a folder with an encoder of "
    "Hugging Face's form, whose outputs are taken as they are; a preset then has ``vector[0]``. They are kept in the "
    "model.",
    metavar="FILE",
)
AUTO_VECTORS = "auto"  # those that come with Spanloom, if development data prefer them


def given_vectors(vectors: str | Path | None) -> str | Path | None:
    """Return the value of the parameter ``vectors`` where it names vectors; ``None`` for a choice, and for none."""
    return None if isinstance(vectors, str) and vectors in (AUTO_VECTORS, "none") else vectors


VOCABULARY = Parameter(
    "A vocabulary whose names and categories become features.",
    "a vocabulary whose names give the column ``category``; any that `read_vocabulary` knows.",
    metavar="V",
)
LINK = Parameter(
    "A vocabulary to link mentions to; repeatable.",
    "vocabularies that mentions are linked to: paths that `read_vocabulary` knows, or a `Vocabulary`; one or several. "
    "Mentions of a type are linked to the one that knows most of its training concepts. They are kept in the model. "
    "``None`` to leave concepts out.",
    metavar="V",
    several=True,
    toml=str | list[str],
)
LINK_ENCODER = Parameter(
    "An encoder's folder: compares mentions with names of the vocabularies.",
    "the folder of an encoder in Hugging Face's form, which is not trained: the similarity of a mention to the nearest "
    "name of each candidate is then one of the numbers that choose a concept (see `spanloom.concepts.similarity`). It "
    "reads all names once, and is kept in the model with their vectors of 8 bits. ``None`` for none.",
    metavar="FOLDER",
)
VOCABULARY_COLUMNS = Parameter(
    "Columns of that vocabulary, such as id=cui,name=str.",
    "which columns of that vocabulary hold what, as ``id=cui,name=str,category=type``; see `read_vocabulary`. ``None`` "
    "for usual names.",
    metavar="NAMES",
)
MIN_COUNT = Whole("Minimum number of tokens of a feature.", "features of fewer training tokens are left out.")
NAMES = Switch(
    "Store names of strong features, which contain words of the training text.",
    "whether the model keeps readable names of its strongest features, which are words of the training text that occur "
    "in at least 5 documents, or in the given number of them. Without names it shows what the features look at.",
    toml=bool | int,
)
TUNE_PENALTY = Switch(
    "Tune the mention penalty on --dev.",
    "whether to tune the mention penalty for development F1.",
    metavar="tune/leave",
)
PASSES = Choice(
    "Passes over a document: one, two, or auto, the better one on --dev.",
    "over a document: ``one``; ``two``, where the second sees what a first one found of the same words elsewhere in "
    "the document, and which names training has (see `spanloom.passes`); ``auto`` for two where development F1 is "
    "better with them. Where no documents of several sentences are to learn from, there is one.",
    names=Passes,
)
TYPES = Texts(
    "Restrict training to these types.",
    "types to learn, each perhaps several with commas; mentions of other types are left out of training and "
    "development data. ``None`` for all types of the training data.",
    metavar="A,B",
    none=True,
    shown="all",
)
SPLIT_TOKENS = Switch(
    "Learn to split tokens where training mentions start or end inside them.",
    "whether patterns of characters at which tokens are split are learned, where training mentions begin or end inside "
    "tokens and it pays. They are a part of the model and split the tokens of every text, also those that a document "
    "brings: what is predicted has the split tokens.",
    metavar="split/keep",
)
