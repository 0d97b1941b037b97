"""Web pages, which load nothing but their scripts, and the reference of the API."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response

from spanloom.view import style


def add_page(app: FastAPI, folder: Path, title: str) -> None:
    """Add a page and its scripts, which may import those that all pages share.

    Args:
        app: gets ``/`` and ``/static/...``.
        folder: has ``page.html``, in which ``TITLE`` is replaced, ``page.css`` and ``page.js``, which is loaded first.
        title: in plain text.
    """
    shared = Path(style.__file__).parent / "static"
    body = (folder / "page.html").read_text(encoding="utf-8").replace("TITLE", escape(title))
    css = "".join((place / "page.css").read_text(encoding="utf-8") for place in (shared, folder))
    html = style.page(title, body, types=[""] * style.KINDS, style=css, module="static/page.js")
    app.add_api_route("/", answer_with(html, "text/html"), include_in_schema=False)
    for script in (*shared.glob("*.js"), *folder.glob("*.js")):
        content = script.read_text(encoding="utf-8")
        app.add_api_route(f"/static/{script.name}", answer_with(content, "text/javascript"), include_in_schema=False)


def answer_with(content: str, media: str) -> Callable[[], Awaitable[Response]]:
    """Return an end point that always gives the same answer."""

    async def answer() -> Response:
        return Response(content, media_type=media)

    return answer


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
        f"<main>\n<h1>{escape(info['title'])} {escape(info['version'])}</h1>\n<p>{escape(info['description'])}</p>\n"
        '<p>For programs: <a href="openapi.json">openapi.json</a>. To try it by hand: <a href="./">the page</a>.</p>\n'
    ]
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n")
            parts.append(f"<p>{escape(operation.get('description', ''))}</p>\n")
            given = operation.get("parameters", ())
            if given:
                rows = [(one["name"], _type(one["schema"]), one.get("description", "")) for one in given]
                parts.append(f"<h3>In the query</h3>\n{_table(rows)}")
            for media, of_media in operation.get("requestBody", {}).get("content", {}).items():
                parts.append(f"<h3>Body</h3>\n<p><code>{escape(media)}</code>: {_type(of_media['schema'])}</p>\n")
            rows = []
            for status, response in operation["responses"].items():
                kinds = " ".join(_type(of_media["schema"]) for of_media in response.get("content", {}).values())
                rows.append((status, kinds, response["description"]))
            parts.append("<h3>Answers</h3>\n" + _table(rows))
    for name, schema in openapi.get("components", {}).get("schemas", {}).items():
        required = schema.get("required", ())
        rows = [
            (field, _type(one) + ", required" * (field in required), one.get("description", ""))
            for field, one in schema.get("properties", {}).items()
        ]
        parts.append(f'<h2 id="{escape(name)}">{escape(name)}</h2>\n<p>{escape(schema.get("description", ""))}</p>\n')
        examples = (json.dumps(one, ensure_ascii=False, indent=1) for one in schema.get("examples", ()))
        parts += [_table(rows), *(f"<pre>{escape(one)}</pre>\n" for one in examples)]
    return style.page(f"{info['title']} API", "".join([*parts, "</main>\n"]), types=(), style=_STYLE)


_STYLE = "pre { overflow-x: auto; border: 1px solid var(--line); padding: .5rem .8rem; font-size: .85rem; }\n"


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
