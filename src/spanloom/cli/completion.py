"""`spanloom completion`: scripts for shells, which run the program at each Tab to ask what may follow the words typed.

Names that a value may have come from the declaration of its option or argument.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Final

from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

from spanloom.errors import UsageError

SHELLS: Final = ("bash", "zsh", "fish")
VARIABLE: Final = "_SPANLOOM_COMPLETE"
"""Variable of the environment in which a script asks; the library then answers, and no verb runs."""


def run(shell: str) -> None:
    """Print the script for a shell."""
    if shell not in SHELLS:
        raise UsageError(f"the shell is {shell!r}, expected one of: {', '.join(SHELLS)}")
    print(get_completion_script(prog_name="spanloom", complete_var=VARIABLE, shell=shell))


def completed_verb(environment: MutableMapping[str, str]) -> str:
    """Prepare the library's answer; return the first word after the command's name, if a later one is to be completed.

    >>> completed_verb({"COMP_WORDS": "spanloom predict m"}), completed_verb({"_TYPER_COMPLETE_ARGS": "spanloom pre"})
    ('predict', '')
    """
    completion_init()
    typed = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS", "")
    if cut := typed.count("\n=\n"):  # bash makes three words of --option=value, where the library expects two
        environment["COMP_WORDS"] = typed.replace("\n=\n", "\n")
        environment["COMP_CWORD"] = str(int(environment["COMP_CWORD"]) - cut)
    words = re.split(r"\s+", typed)
    return words[1] if len(words) > 2 else ""
