"""`spanloom lab clusters`: Brown clusters of the words of text, as a file of paths."""

from __future__ import annotations

from spanloom.cli.messages import Messages
from spanloom.features.clusters import induce, write_paths
from spanloom.files.output import check_free
from spanloom.formats import read
from spanloom.text import prepare, sentence_words


def run(
    sources: list[str], output: str, size: int, min_count: int, input_format: str | None, force: bool, quiet: bool
) -> None:
    """Read, cluster and write; say how many words there are."""
    check_free(output, force=force)
    documents = map(prepare, read(sources, format=input_format))
    paths = induce(sentence_words(documents), size, min_count)
    write_paths(output, paths, force=force)
    Messages(quiet)(f"spanloom: {len(paths):,} words in {len(set(paths.values())):,} clusters")
