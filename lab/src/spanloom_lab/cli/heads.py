"""`spanloom lab heads` and `spanloom lab clusters`: heads of mentions by a rule, and Brown clusters of words."""

from __future__ import annotations

from spanloom.cli.messages import Messages
from spanloom.cli.reading import output_format_of, write_all
from spanloom.errors import UsageError
from spanloom.features.clusters import induce, write_paths
from spanloom.files.output import check_free
from spanloom.formats import read
from spanloom.text import prepare, sentence_words
from spanloom_lab.head_rules import HEAD_RULES, give_heads


def heads(
    rule: str,
    source: str,
    output: str,
    output_format: str | None,
    input_format: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Read, give heads and write, a document at a time; report the losses."""
    if rule not in HEAD_RULES:
        raise UsageError(f"no rule {rule!r}; there are {', '.join(HEAD_RULES)}")
    documents = give_heads(map(prepare, read(source, format=input_format)), rule)
    write_all(documents, output, Messages(quiet), output_format_of(output, output_format), force=force)


def clusters(
    sources: list[str], output: str, size: int, min_count: int, input_format: str | None, force: bool, quiet: bool
) -> None:
    """Read, cluster and write; report the number of words."""
    check_free(output, force=force)
    documents = map(prepare, read(sources, format=input_format))
    paths = induce(sentence_words(documents), size, min_count)
    write_paths(output, paths, force=force)
    Messages(quiet)(f"spanloom: {len(paths):,} words in {len(set(paths.values())):,} clusters")
