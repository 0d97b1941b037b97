"""The size of the code: it may shrink; a change that lets it grow raises a limit here, and says why."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import spanloom
import spanloom_lab

PACKAGE, LAB = Path(spanloom.__file__).parent, Path(spanloom_lab.__file__).parent
LIMITS = {
    "lines of Python, core": 49_900,
    "lines of Python, core and lab": 53_150,
    "lines of C": 6_640,
    "modules": 461,
    "private functions of at most six lines with one caller": 190,
    "lines of recognizer.py": 200,
    "parameters of estimators": 132,
}
"""Lines are those with code: no blank lines, comments, docstrings or imports."""
_TINY = 6
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(path: Path) -> int:
    """Return the lines of a module that hold code."""
    source, left_out = path.read_text(encoding="utf-8"), set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            left_out.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {line for one in tokens if one.type not in blank for line in range(one.start[0], one.end[0] + 1)}
    return len(lines - left_out)


def tiny_functions(path: Path) -> int:
    """Return how many private functions of a module are short and are named once besides their definition."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    found = 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.decorator_list:
            documented = ast.get_docstring(node) is not None and len(node.body) > 1
            first = node.body[1 if documented else 0].lineno
            found += (node.end_lineno or 0) - first < _TINY and named[node.name] == 1
    return found


def test_sizes() -> None:
    core, lab = ([*folder.rglob("*.py")] for folder in (PACKAGE, LAB))
    code = sum(map(code_lines, core))
    comments = re.compile(r"/\*.*?\*/", re.DOTALL)
    texts = [comments.sub("", path.read_text(encoding="ascii")) for path in (PACKAGE / "native").glob("*.[ch]")]
    parameters = [path.read_text(encoding="utf-8") for path in core if path.name == "parameters.py"]
    found = {
        "lines of Python, core": code,
        "lines of Python, core and lab": code + sum(map(code_lines, lab)),
        "lines of C": sum(1 for text in texts for line in text.splitlines() if line.strip()),
        "modules": len(core),
        "private functions of at most six lines with one caller": sum(map(tiny_functions, core)),
        "lines of recognizer.py": code_lines(PACKAGE / "recognize" / "recognizer.py"),
        "parameters of estimators": sum(len(re.findall(r"^    \w+: .* = ", text, re.MULTILINE)) for text in parameters),
    }
    assert {name: size for name, size in found.items() if size > LIMITS[name]} == {}
