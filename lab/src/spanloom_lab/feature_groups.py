"""Groups of feature templates: what a feature search adds and removes as one."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from spanloom.errors import UsageError, clip
from spanloom.features import PRESETS, FeatureTemplate, parse_all

ALWAYS: Final = ("bias",)
"""Templates of every trial: the bias of each role."""
Groups = Mapping[str, tuple[str, ...]]

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "word": ("w[0]", "low[0]", "norm[0]"),
    "words-near": ("w[-1]", "w[1]", "low[-1]", "low[1]"),
    "words-far": ("w[-2]", "w[2]", "low[-2]", "low[2]"),
    "words-farther": ("w[-3]", "w[3]", "low[-3]", "low[3]"),
    "word-pairs": ("low[-1]|low[0]", "low[0]|low[1]"),
    "word-ngrams": ("ngrams(w,2..3)",),
    "word-4grams": ("ngrams(w,4)",),
    "window": ("bag(w,-5,5)",),
    "sentence": ("bag(low,-30,30)",),
    "affixes": ("prefix(1..4)", "suffix(1..4)"),
    "affixes-long": ("prefix(5..6)", "suffix(5..6)"),
    "endings-near": ("w:-3[-2]", "w:-3[-1]", "w:-3[1]", "w:-3[2]"),
    "affix-pairs": ("suffix3[-1]|suffix3[0]", "suffix3[0]|suffix3[1]"),
    "shape": ("shape[0]", "short_shape[0]"),
    "shapes-near": ("shape[-1]", "shape[1]"),
    "shape-pairs": ("shape[-1]|shape[0]", "shape[0]|shape[1]", "shape[-1]|shape[0]|shape[1]"),
    "orthography": ("orth[0]",),
    "lemma": ("lemma[0]",),
    "pos": ("pos[-2..2]",),
    "pos-ngrams": ("ngrams(pos,2..4)",),
    "clusters": ("cluster[-1..1]", "cluster:4[-1..1]", "cluster:6[-1..1]", "cluster:10[-2..2]"),
    "cluster-pairs": (
        "cluster:10[-1]|cluster:10[0]",
        "cluster:10[0]|cluster:10[1]",
        "cluster:6[-1]|cluster:6[0]|cluster:6[1]",
    ),
    "band": ("band[0]",),
    "category": ("category[-1..1]",),
    "document": ("section[0]", "note[0]"),
}
"""Group -> its templates.

The presets ``biomedical``, ``best`` and ``fast`` are unions of groups; of others a rest is left (`groups_of`).
"""


def templates_of(names: Collection[str], groups: Groups) -> tuple[str, ...]:
    """Return the templates of some groups, in the order of the table, each once.

    >>> templates_of({"shape", "word"}, GROUPS)
    ('bias', 'w[0]', 'low[0]', 'norm[0]', 'shape[0]', 'short_shape[0]')
    """
    found = [template for name, own in groups.items() if name in names for template in own]
    return tuple(dict.fromkeys([*ALWAYS, *found]))


def groups_of(preset: str, groups: Groups = GROUPS) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Express a preset as a choice of groups.

    Args:
        preset: a key of `PRESETS`.
        groups: the groups that there are.

    Returns:
        The names of the groups that the preset holds as a whole, and the groups with one more, ``NAME-rest``, where it
        has templates besides; that one is among the names.

    Raises:
        UsageError: no such preset.

    >>> names, groups = groups_of("ace")
    >>> names
    ('word-ngrams', 'word-4grams', 'window', 'orthography', 'pos-ngrams', 'ace-rest')
    >>> groups["ace-rest"]
    ('w[-3..3]', 'pos[-3..3]')
    """
    if preset not in PRESETS:
        raise UsageError(f"no feature preset {preset!r}; there are {', '.join(PRESETS)}")
    templates = parse_all(PRESETS[preset])
    held = _features(templates)
    names = [name for name, own in groups.items() if _features(parse_all(own)) <= held]
    covered = _features(parse_all(templates_of(names, groups)))
    rest = tuple(template.text for template in templates if not _features([template]) <= covered)
    # a template of which groups hold a part is in the rest as a whole: features count once
    within = [name for name in names if not _features(parse_all(groups[name])) <= _features(parse_all(rest))]
    if not rest:
        return tuple(names), dict(groups)
    return (*within, f"{preset}-rest"), {**groups, f"{preset}-rest": rest}


def _features(templates: Iterable[FeatureTemplate]) -> set[str]:
    return {str(feature) for template in templates for feature in template.features}


def read_groups(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read groups from a TOML file: lines of a name and a list of templates.

    They take the place of `GROUPS`; with ``default = true`` at the top they are added, and one of the same name takes
    the other's place.

    Raises:
        UsageError: the file cannot be read, or holds something else; names the group.
    """
    try:
        values: dict[str, Any] = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"groups {str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # not TOML, or not UTF-8
        raise UsageError(f"groups {str(path)!r}: not a TOML file: {error}") from None
    default = values.pop("default", False)
    if not isinstance(default, bool):
        raise UsageError(f"groups {str(path)!r}: default is {clip(str(default))}, expected true or false")
    own = {name: _checked(path, name, templates) for name, templates in values.items()}
    found = {**GROUPS, **own} if default else own
    if not found:
        raise UsageError(f'groups {str(path)!r}: no group; expected lines such as shape = ["shape[0]"]')
    return found


def _checked(path: str | Path, name: str, templates: object) -> tuple[str, ...]:
    if not isinstance(templates, list) or not templates or not all(isinstance(one, str) for one in templates):
        raise UsageError(
            f"groups {str(path)!r}: {clip(name)} is {clip(str(templates))}, expected a list of templates, such as "
            '["shape[0]"]'
        )
    try:
        return tuple(template.text for template in parse_all(templates))
    except UsageError as error:
        raise UsageError(f"groups {str(path)!r}: {clip(name)}: {error}") from None
