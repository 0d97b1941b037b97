"""The figures of all pages and the cells of the records that they come from: ``python docs/figures.py``.

A figure is a number with a decimal point or a thousands separator, or one before ``%``, outside code. It must be in a
record that its paragraph, list item or table row links to (``benchmarks/results/NAME.md``, or the page of the models
that come ready), or, if it links to none, in one that its section links to. Any other figure (a paper's, a difference,
a size limit, an example) is listed with its reason in ``docs/figures.toml``. Numbers of sections, tables, versions and
licences are not figures, nor is 95 % of an interval.

The script looks each figure up, rounded to the digits that the page shows, and writes the cell that has most words in
common with the paragraph to ``docs/figures.tsv``: page, figure, record, table, row, column. The test compares pages
with that list and the list with the records, so it fails when a figure or a record changes; then correct the page and
run the script. `papers.md` has tables and sentences of its own, see `paper_tables`.

    >>> [figure for figure, _ in figures("An F1 of **72.2** (95 % interval 71.1 to 73.0), see section 3.2; `0.5`.")]
    ['72.2', '71.1', '73.0']
    >>> agrees("105,000", 104_666.5), agrees("72.2", 72.24), agrees("1.5 %", 0.0154), agrees("72.2", 72.3)
    (True, True, True, False)
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DECLARED, PINNED = ROOT / "docs" / "figures.toml", ROOT / "docs" / "figures.tsv"
READY = "models-ready"  # the record of the models that come ready: their catalogues
CARDS = tuple(ROOT / f"models{end}" / "src" / f"spanloom_models{end.replace('-', '_')}" for end in ("", "-sa", "-zh"))
_CODE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(`+)[^`].*?\1|<!--.*?-->|https?://\S+", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]*)\)")
_SECTION = re.compile(r"^(?=#+ )", re.MULTILINE)
_BLOCK = re.compile(r"\n\s*\n|\n(?= *(?:[-*|]|\d+\.) )|\n(?=\|)")
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+"
_BEFORE = r"(?<![\w.,])(?<!\D/)"  # 72.2/73.3 are two figures, a path has none
_FIGURE = re.compile(rf"{_BEFORE}(?:{_NUMBER})(?: ?%)?(?=x\b|(?![\w.]*\w))|{_BEFORE}\d+ ?%")
_NAMED = re.compile(
    r"(?:[Ss]ections?|[Tt]ables?|[Ff]igures?|§|Python|CC BY|CC BY-SA|[Vv]ersion|[Ll]icen[cs]e|Apache|corpus)"
    rf" (?:{_NUMBER}|\d+)(?:(?:,| and| to| or) (?:\d+\.\d+))*|95 ?%(?= (?:\w+ )?interval)"
)
_CELL = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e-?\d+)?")
_WORD = re.compile(r"[a-z]\w+")


class Cell(NamedTuple):
    """A cell of a record: where it is, and the numbers in it."""

    record: str
    table: str
    row: str
    column: str
    numbers: tuple[float, ...]

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Without the numbers."""
        return self[:4]


class Found(NamedTuple):
    """A figure of a page, where it begins, its paragraph, the words just before it, and the records linked there."""

    figure: str
    place: int
    text: str
    before: str
    records: tuple[str, ...]


class Pin(NamedTuple):
    """A line of the list: a figure of a page, and the cell that it comes from."""

    page: str
    figure: str
    record: str
    table: str
    row: str
    column: str


def pages() -> dict[str, str]:
    """All pages whose figures are checked here: path from the root -> text."""
    every = chain([ROOT / "README.md"], (ROOT / "docs").rglob("*.md"), *(folder.glob("*.md") for folder in CARDS))
    found = sorted(set(every) - {ROOT / "docs" / "papers.md"})
    return {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in found}


def figures(text: str) -> list[tuple[str, int]]:
    """The figures of a text and where they begin."""
    text = _INLINE.sub(lambda match: " " * len(match[0]), text)
    text = _NAMED.sub(lambda match: " " * len(match[0]), _LINK.sub(lambda match: "]" + " " * (len(match[0]) - 1), text))
    return [(match[0].replace("\n", " "), match.start()) for match in _FIGURE.finditer(text)]


def read(name: str, text: str) -> Iterator[Found]:
    """The figures of a page, in their order."""
    own = (READY,) if name.startswith("models") or name == f"docs/{READY}.md" else ()
    text = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for begin, section in parts(_SECTION, text):
        shared = own or linked(section)
        head = ""
        for offset, block in parts(_BLOCK, section):
            head = (head or block) if block.lstrip().startswith("|") else ""
            records = own or linked(block) or shared
            for figure, place in figures(block):
                before = block[max(0, place - 80) : place]
                yield Found(figure, begin + offset + place, f"{head} {block}", before, records)


def parts(border: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """What lies between borders, and where it begins."""
    begin = 0
    for match in border.finditer(text):
        yield begin, text[begin : match.start()]
        begin = match.end()
    yield begin, text[begin:]


def linked(text: str) -> tuple[str, ...]:
    """The records that a text links to."""
    names = (Path(target.partition("#")[0]) for target in _LINK.findall(text))
    return tuple(
        dict.fromkeys(
            name.stem
            for name in names
            if name.suffix == ".md" and (name.parent.name == "results" or name.stem == READY)
        )
    )


@cache
def cells(record: str) -> tuple[Cell, ...]:
    """The cells of a record that hold numbers.

    Raises:
        FileNotFoundError: no such record.
    """
    if record == READY:
        found = [(name, one) for folder in CARDS for name, one in catalogue(folder).items()]
        return tuple(Cell(record, "", name, *value) for name, one in found for value in leaves(one))
    whole = json.loads((RESULTS / f"{record}.json").read_text(encoding="utf-8"))
    rows: list[Cell] = [
        Cell(record, "Targets", check["claim"], column, numbers(check[column]))
        for check in whole["checks"]
        for column in ("found", "target")
    ]
    for table in whole["tables"]:
        seen: Counter[str] = Counter()
        for row in table["rows"]:
            label = named(row)
            seen[label] += 1
            label += f" ({seen[label]})" * (seen[label] > 1)
            repeated: Counter[str] = Counter()
            for column, cell in zip(table["columns"], row, strict=False):
                repeated[column] += 1
                place = f"{column}#{repeated[column]}" if repeated[column] > 1 else column
                rows.append(Cell(record, table["title"], label, place, numbers(cell)))
        notes = ((f"note {number}", note) for number, note in enumerate(table["notes"], 1))
        rows += [Cell(record, table["title"], number, "", numbers(note)) for number, note in notes]
        heads = numbers(" ".join([table["title"], *table["columns"]]))
        rows.append(Cell(record, table["title"], "title and columns", "", heads))
    return tuple(cell for cell in rows if cell.numbers)


def catalogue(folder: Path) -> dict[str, Any]:
    """What a package of models says of each."""
    found: dict[str, Any] = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))
    return found


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, tuple[float, ...]]]:
    """The numbers in nested dictionaries and lists, with the names on the way; bytes also as megabytes."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{name} {key}".strip())
    elif isinstance(value, list):
        for number, one in enumerate(value, 1):
            yield from leaves(one, f"{name} {number}")
    elif isinstance(value, int | float):
        yield name, (float(value), value / 1e6) if name == "bytes" else (float(value),)


def named(row: Iterable[Any]) -> str:
    """What a row begins with, up to its first number."""
    label = []
    for cell in row:
        if isinstance(cell, float) or (label and numbers(cell)):
            break
        label.append(str(cell))
    return " | ".join(label)


def numbers(cell: Any) -> tuple[float, ...]:
    """The numbers of a cell."""
    if isinstance(cell, int | float):
        return (float(cell),)
    return tuple(float(text.replace(",", "")) for text in _CELL.findall(str(cell or "")))


def agrees(figure: str, value: float) -> bool:
    """Whether a page may show a value so: rounded to these digits, and with ``%`` as a share of one, too."""
    bare = figure.rstrip(" %").replace(",", "")
    digits = len(bare.partition(".")[2]) or (len(bare.rstrip("0")) - len(bare) if "," in figure else 0)
    values = (value, 100 * value) if abs(value) <= 1 else (value,)
    return any(abs(abs(one) - float(bare)) <= 0.5000001 * 10**-digits for one in values)


def best(found: Found) -> Cell | None:
    """The cell of the linked records that has the figure, and most words in common with its text."""
    words, near = (set(_WORD.findall(text.lower())) for text in (found.text, found.before))
    matching = [
        cell
        for record in found.records
        for cell in cells(record)
        if any(agrees(found.figure, value) for value in cell.numbers)
    ]

    def common(cell: Cell) -> float:
        own = set(_WORD.findall(" ".join(cell.place).lower()))
        return len(own & words) + len(own & near) - 0.25 * len(own - words)

    return max(matching, key=common, default=None)


def declared() -> dict[str, Counter[str] | None]:
    """Page -> figures that come from no record, and how often; None is a page that is not checked."""
    found: dict[str, Counter[str] | None] = {}
    for entry in tomllib.loads(DECLARED.read_text(encoding="utf-8"))["figures"]:
        if entry["figures"] == "all":
            found[entry["page"]] = None
        else:
            counted = found.setdefault(entry["page"], Counter())
            assert counted is not None, entry
            counted.update(entry["figures"])
    return found


def checked(page: str, text: str) -> tuple[list[Found], list[str]]:
    """The figures of a page that records must have, and those that are declared and not there."""
    known = declared()
    left = known.get(page, Counter())
    if left is None:
        return [], []
    from_records = []
    for found in read(page, text):
        if left[found.figure] > 0:
            left[found.figure] -= 1
        else:
            from_records.append(found)
    return from_records, [f"{page}: {figure} is declared, and not on the page" for figure in (+left).elements()]


def differences(page: str, text: str, pinned: Sequence[Pin]) -> list[str]:
    """What a page shows and the list or the records do not.

    Args:
        page: its path from the root.
        text: what it says.
        pinned: the lines of the list that are of this page.
    """
    found, problems = checked(page, text)
    figures, listed = [one.figure for one in found], [pin.figure for pin in pinned]
    problems += [f"{page}: {figure} is not listed" for figure in (Counter(figures) - Counter(listed)).elements()]
    problems += [f"{page}: {figure} is listed, not shown" for figure in (Counter(listed) - Counter(figures)).elements()]
    if not problems and figures != listed:
        problems.append(f"{page}: figures are listed in another order")
    for pin in pinned:
        now = [cell.numbers for cell in cells(pin.record) if cell.place == pin[2:]]
        if not any(agrees(pin.figure, value) for values in now for value in values):
            problems.append(f"{page}: {pin.figure} is {now} in {', '.join(pin[2:])}")
    return problems


def pins() -> dict[str, list[Pin]]:
    """The list, by page."""
    found: dict[str, list[Pin]] = {}
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        pin = Pin(*line.split("\t"))
        found.setdefault(pin.page, []).append(pin)
    return found


def main() -> None:
    """Write the list, and print what it cannot hold."""
    lines, problems = [], []
    for name, text in pages().items():
        found, unused = checked(name, text)
        problems += unused
        for one in found:
            if cell := best(one):
                lines.append(Pin(name, one.figure, *cell.place))
            else:
                where = ", ".join(one.records) or "no record is linked here"
                problems.append(f"{name}: {one.figure} ({where}): {' '.join(one.text.split())[:150]}")
    PINNED.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    print(*problems, f"{len(lines)} figures come from records", sep="\n")


if __name__ == "__main__":
    main()
