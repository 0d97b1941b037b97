"""The web page, and the reference of the API: each is one file that loads nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from spanloom.view.style import KINDS, page

_STATIC = Path(__file__).parent / "static"


def index_page() -> str:
    """The page that shows mentions."""
    body, style, script = (
        (_STATIC / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")
    )
    return page("Spanloom", body, types=[""] * KINDS, style=style, script=script, fetches=True)


def reference_page(openapi: Mapping[str, Any]) -> str:
    """The OpenAPI description as a page to read.

    Args:
        openapi: of version 3.1, as `/openapi.json` has it.

    >>> html = reference_page({"info": {"title": "A", "version": "1", "description": ""}, "paths": {}})
    >>> "<h1>A 1</h1>" in html
    True
    """
    info = openapi["info"]
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>\n<p>{escape(info['description'])}</p>\n"
        '<p>For programs: <a href="openapi.json">openapi.json</a>. To try it by hand: <a href="./">the page</a>.</p>\n'
    ]
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            parts += _operation(path, method, operation)
    schemas = openapi.get("components", {}).get("schemas", {})
    parts += [f'<h2 id="{escape(name)}">{escape(name)}</h2>\n{_schema(schema)}' for name, schema in schemas.items()]
    return page(f"{info['title']} API", "".join(parts), types=(), style=_STYLE)


_STYLE = "pre { overflow-x: auto; border: 1px solid var(--line); padding: .5rem .8rem; font-size: .85rem; }\n"


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n<p>{escape(operation.get('description', ''))}</p>\n"
    rows = [
        (parameter["name"], _type(parameter["schema"]), parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    if rows:
        yield f"<h3>In the query</h3>\n{_table(rows)}"
    content = operation.get("requestBody", {}).get("content", {})
    for media, of_media in content.items():
        yield f"<h3>Body</h3>\n<p><code>{escape(media)}</code>: {_type(of_media['schema'])}</p>\n"
    yield "<h3>Answers</h3>\n" + _table(
        (
            status,
            " ".join(_type(of_media["schema"]) for of_media in response.get("content", {}).values()),
            response["description"],
        )
        for status, response in operation["responses"].items()
    )


def _schema(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        (name, _type(field) + (", required" if name in required else ""), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    examples = "".join(
        f"<pre>{escape(json.dumps(example, ensure_ascii=False, indent=1))}</pre>\n"
        for example in schema.get("examples", ())
    )
    return f"<p>{escape(schema.get('description', ''))}</p>\n{_table(rows)}{examples}"


def _table(rows: Any) -> str:
    """Rows of a name, HTML of a type, and a description."""
    body = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{kind}</td><td>{escape(about)}</td></tr>\n"
        for name, kind, about in rows
    )
    return f"<table>\n{body}</table>\n"


def _type(schema: Mapping[str, Any]) -> str:
    """A JSON schema in a few words, as HTML.

    >>> _type({"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Record"}}, {"type": "null"}]})
    'list of <a href="#Record">Record</a>, or null'
    """
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return ", or ".join(_type(part) for part in schema["anyOf"])
    if "properties" in schema:
        fields = [f"<code>{escape(name)}</code>, {_type(field)}" for name, field in schema["properties"].items()]
        return f"object of {'; '.join(fields)}"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_type(schema['additionalProperties'])}"
    return escape(str(schema.get("type", "any JSON")))
