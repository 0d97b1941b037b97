"""Scripts for bash, zsh and fish that complete a command line from all verbs and options, without starting Python.

Each finds the verb among the words of the line, and offers what may follow: the values of the option before, else
options after a ``-``, else the arguments of the verb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple


class Value(NamedTuple):
    """The possible words at a place.

    Args:
        words: names.
        paths: whether files and folders are possible.
    """

    words: tuple[str, ...] = ()
    paths: bool = False


class Option(NamedTuple):
    """An option.

    Args:
        names: with their dashes.
        help: what it does.
        value: what it takes; nothing if ``None``.
    """

    names: tuple[str, ...]
    help: str
    value: Value | None


class Verb(NamedTuple):
    """A verb.

    Args:
        name: its words; empty for the program itself.
        help: what it does.
        options: that it has.
        value: what else may follow it: other words, and arguments.
    """

    name: str
    help: str
    options: tuple[Option, ...]
    value: Value


_BASH = """\
# completion of spanloom for bash; as the file spanloom in ~/.local/share/bash-completion/completions, or sourced
_spanloom() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} verb= word options= words= paths=
    if [[ $current == = ]]; then  # --option=value arrives as three words
        current=
    elif [[ $previous == = ]]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
        case "$verb $word" in
            {known}) verb="${{verb:+$verb }}$word" ;;
        esac
    done
    case $verb in
{cases}
    esac
    [[ $current == -* && -n $options ]] && words=$options paths=
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ -z $paths ]]; then
        compopt +o default 2>/dev/null  # nothing else is possible here, not even a file
    elif [[ -n $words ]]; then
        local IFS=$'\\n'
        compopt -o filenames 2>/dev/null
        COMPREPLY+=($(compgen -f -- "$current"))
    fi
}}
complete -o default -F _spanloom spanloom
"""

_ZSH = """\
#compdef spanloom
# completion of spanloom for zsh; as the file _spanloom in a folder of $fpath, or sourced after compinit
_spanloom() {{
    local previous=${{words[CURRENT-1]}} verb= word paths=
    local -a flags names
    if [[ $PREFIX == --*=* ]]; then
        previous=${{PREFIX%%=*}}
        compset -P '*='
    fi
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$verb $word" in
            {known}) verb="${{verb:+$verb }}$word" ;;
        esac
    done
    case $verb in
{cases}
    esac
    if [[ $PREFIX == -* && ${{#flags}} -gt 0 ]]; then
        _describe -o option flags
        return
    fi
    local found=1
    (( ${{#names}} )) && _describe name names && found=0
    [[ -n $paths ]] && _files && found=0
    return found
}}
compdef _spanloom spanloom
if [[ ${{funcstack[1]}} == _spanloom ]]; then _spanloom "$@"; fi
"""

_FISH = """\
# completion of spanloom for fish; as the file ~/.config/fish/completions/spanloom.fish
function __spanloom_at
    set -l verb ''
    for word in (commandline -opc)
        switch "$verb $word"
            case {known}
                set verb (string trim -- "$verb $word")
        end
    end
    test "$verb" = "$argv[1]"
end
complete -c spanloom -f
{lines}
"""


def _bash(verbs: Sequence[Verb]) -> str:
    about = "options={} words={} paths={}"
    cases = _cases(
        verbs,
        lambda verb: about.format(_joined(_flags(verb)), _joined(verb.value.words), _paths(verb.value)),
        lambda value: about.format("''", _joined(value.words), _paths(value)),
    )
    return _BASH.format(known=_known(verbs, " | "), cases="\n".join(cases))


def _zsh(verbs: Sequence[Verb]) -> str:
    below = {verb.name: verb.help for verb in verbs}

    def whole(verb: Verb) -> str:
        flags = [_described(name, one.help) for one in verb.options for name in one.names]
        names = [_described(word, below.get(f"{verb.name} {word}".strip(), "")) for word in verb.value.words]
        return f"flags=({' '.join(flags)}) names=({' '.join(names)}) paths={_paths(verb.value)}"

    def value(value: Value) -> str:
        return f"flags=() names=({' '.join(map(_quoted, value.words))}) paths={_paths(value)}"

    return _ZSH.format(known=_known(verbs, " | "), cases="\n".join(_cases(verbs, whole, value)))


def _fish(verbs: Sequence[Verb]) -> str:
    return _FISH.format(known=_known(verbs, " "), lines="\n".join(_fish_lines(verbs)))


def _fish_lines(verbs: Sequence[Verb]) -> Iterator[str]:
    below = {verb.name: verb.help for verb in verbs}
    for verb in verbs:
        at = f"complete -c spanloom -n {_fish_quoted(f'__spanloom_at {_fish_quoted(verb.name)}')}"
        for word in verb.value.words:
            said = below.get(f"{verb.name} {word}".strip(), "")
            yield f"{at} -a {_fish_quoted(word)}" + (f" -d {_fish_quoted(said)}" if said else "")
        if verb.value.paths:
            yield f"{at} -F"
        for option in verb.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            yield f"{at} {names}{_fish_value(option.value)} -d {_fish_quoted(option.help)}"


def _fish_value(value: Value | None) -> str:
    if value is None:
        return ""
    words = f" -a {_fish_quoted(' '.join(value.words))}" if value.words else ""
    return f" -r -F{words}" if value.paths else f" -x{words}"


def _cases(verbs: Sequence[Verb], whole: Callable[[Verb], str], assigned: Callable[[Value], str]) -> Iterator[str]:
    """Yield the lines of a ``case`` of verbs, with a ``case`` of options that take a value in each."""
    for verb in verbs:
        yield f"        {_quoted(verb.name)})"
        yield f"            {whole(verb)}"
        by_value: dict[Value, list[str]] = {}
        for option in verb.options:
            if option.value is not None:
                by_value.setdefault(option.value, []).extend(option.names)
        if by_value:
            yield "            case $previous in"
            yield from (f"                {' | '.join(n)}) {assigned(value)} ;;" for value, n in by_value.items())
            yield "            esac"
        yield "            ;;"


def _known(verbs: Sequence[Verb], between: str) -> str:
    """Return patterns of the words so far and the next one, if they make a verb."""
    return between.join(_quoted(verb.name if " " in verb.name else f" {verb.name}") for verb in verbs if verb.name)


def _flags(verb: Verb) -> tuple[str, ...]:
    return tuple(name for option in verb.options for name in option.names)


def _paths(value: Value) -> str:
    return "yes" if value.paths else ""


def _joined(words: Sequence[str]) -> str:
    return _quoted(" ".join(words))


def _described(name: str, said: str) -> str:
    return _quoted(f"{name}:{said}" if said else name)


def _quoted(text: str) -> str:
    """Quote for bash and zsh.

    >>> print(_quoted("a reader's"))
    'a reader'\\''s'
    """
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    r"""Quote for fish.

    >>> print(_fish_quoted("a reader's"))
    'a reader\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Final = MappingProxyType({"bash": _bash, "zsh": _zsh, "fish": _fish})
"""Shell -> what makes its script of all verbs."""
