"""The HTTP API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from spanloom import __version__
from spanloom.errors import clip, meant
from spanloom.model.parameters import LEAST
from spanloom.serve import schema
from spanloom.serve.answers import NO_TRAINING, Job
from spanloom.serve.limits import Limits, Refused
from spanloom.serve.page import add_page, answer_with, reference_page
from spanloom.serve.served import Served
from spanloom.serve.work import Gone, Workers

_ABOUT = """Finds mentions that nest, overlap, cross or skip words, with exact probabilities. Records are those of \
Spanloom's native format. Nothing that is sent is kept."""
_REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": schema.Error, "description": "The request cannot be served as it is."},
    "503": {"model": schema.Error, "description": "No capacity, or no answer in time; try again."},
}
_HUNG_UP = 499  # of a client that does not see it; as other servers log it

ModelName = Annotated[str | None, Query(max_length=256, description="A name in `/models`; the first if not given.")]
Threshold = Annotated[float, Query(ge=0, le=1, description="Drop mentions with a lower probability.")]
Others = Annotated[
    bool,
    Query(
        description="List in `meta.others` also mentions outside of the most probable structure, those with at least "
        f"{LEAST:.0%}, each with its calibrated probability."
    ),
]
Expand = Annotated[
    bool,
    Query(
        description="Add the mentions that coordinated ones stand for, as *breast cancer* for *breast and ovarian "
        "cancer*, with the attribute `expanded`; a probability is that of the mention times that of the expansion, and "
        "may be lower than `threshold`."
    ),
]


class Api:
    """The end points.

    Args:
        models: by name.
        limits: of requests.
        workers: what requests are worked on by.
    """

    def __init__(self, models: Mapping[str, Served], limits: Limits, workers: Workers) -> None:
        self._models = models
        self._limits = limits
        self._workers = workers

    async def predict(
        self, request: Request, model: ModelName = None, threshold: Threshold = 0.0, others: Others = False,
        expand: Expand = False,
    ) -> Response:  # fmt: skip
        """Mark up a record, or a list of records: each comes back with the mentions that the model finds.

        Tokens, sentences and columns of a record are used where it has them, its mentions never.
        """
        served = self._named(model)
        if threshold and not served.scores:
            raise Refused(422, f"{served.name} is a {served.kind}, which gives no probabilities; leave out threshold")
        if others and not served.considers:
            raise Refused(422, f"{served.name} is a {served.kind}, which gives no other mentions; leave out others")
        return await self._answer(request, Job("predict", served.name, threshold, others, expand))

    async def explain(self, request: Request, model: ModelName = None) -> Response:
        """Explain why a model finds a mention, or does not: what each role of each token adds, and its features.

        For a linker also the candidate concepts.
        """
        served = self._named(model)
        return await self._answer(request, Job("explain", served.name))

    async def models(self) -> schema.ModelList:
        """The models that are served, and what a request may take."""
        limits = self._limits
        return schema.ModelList(
            models=[
                schema.ModelRecord(
                    name=served.name, kind=served.kind, types=list(served.model.types_), scores=served.scores,
                    words="words" in served.model.annotates, others=served.considers,
                )
                for served in self._models.values()
            ],
            limits=schema.LimitRecord(**{name: getattr(limits, name) for name in schema.LimitRecord.model_fields}),
        )  # fmt: skip

    async def health(self) -> schema.Health:
        """Report that the server answers."""
        return schema.Health(status="ok", version=__version__)

    def foreign(self, verb: str) -> Callable[..., Awaitable[Response]]:
        """Return the end point of a protocol of other programs, which name a model in the path, or none."""

        async def end_point(request: Request) -> Response:
            return await self._answer(request, Job(verb, self._named(request.path_params.get("model")).name))

        return end_point

    async def up(self, request: Request) -> Response:
        """Report to Label Studio that the server answers."""
        return JSONResponse({"status": "UP", "model_class": self._named(request.path_params.get("model")).kind})

    async def no_training(self, request: Request) -> Response:
        """Refuse to train."""
        raise Refused(422, NO_TRAINING)

    def _named(self, name: str | None) -> Served:
        """A model by its name, which is looked up and never taken for a path."""
        found = next(iter(self._models.values())) if name is None else self._models.get(name)
        if found is None:
            raise Refused(404, f"no model is called {clip(str(name))}; there are: {', '.join(self._models)}")
        return found

    async def _answer(self, request: Request, job: Job) -> Response:
        async with self._workers.ticket() as ticket:
            raw = await body_of(request, self._limits.body, partial(self._workers.hold, ticket))
            ticket.complete = True
            answer = await self._workers.run(job, raw, lambda: hung_up(request))
        return Response(answer.body, answer.status, media_type="application/json")


def make_api(models: Mapping[str, Served], limits: Limits, workers: Workers) -> FastAPI:
    """The application: end points, the page, and the reference."""
    api = Api(models, limits, workers)
    app = FastAPI(title="Spanloom", version=__version__, description=_ABOUT, docs_url=None, redoc_url=None)
    routes, alone = APIRouter(responses=_REFUSALS), [Depends(_no_others)]
    record = {"$ref": "#/components/schemas/Record"}
    # no answer contains it, so that only its parts are among the components
    question = schema.Question.model_json_schema(ref_template="#/components/schemas/{model}")
    routes.add_api_route(
        "/predict", api.predict, methods=["POST"], responses={200: {"model": schema.Record | list[schema.Record]}},
        dependencies=alone, openapi_extra=_body({"anyOf": [record, {"type": "array", "items": record}]}),
    )  # fmt: skip
    routes.add_api_route(
        "/explain", api.explain, methods=["POST"], dependencies=alone,
        responses={200: {"model": schema.ExplanationRecord}},
        openapi_extra=_body({name: value for name, value in question.items() if name != "$defs"}),
    )  # fmt: skip
    routes.add_api_route("/models", api.models)
    routes.add_api_route("/health", api.health)
    app.include_router(routes)
    for of_model in ("", "/{model}"):
        place = f"/label-studio{of_model}"
        for name in ("setup", "predict", "webhook"):
            app.add_route(f"{place}/{name}", api.foreign(f"label-studio {name}"), methods=["POST"])
        app.add_route(f"{place}/train", api.no_training, methods=["POST"])
        app.add_route(f"{place}/health", api.up, methods=["GET"])
        app.add_route(f"/inception{of_model}/predict", api.foreign("inception predict"), methods=["POST"])
        app.add_route(f"/inception{of_model}/train", api.no_training, methods=["POST"])
    add_page(app, Path(__file__).parent / "static", "Spanloom")
    app.add_api_route("/docs", answer_with(reference_page(app.openapi()), "text/html"), include_in_schema=False)
    add_handlers(app)
    return app


async def _no_others(request: Request) -> None:
    """Refuse parameters that the end point does not have: a misspelt threshold would be none."""
    known = [one.alias for one in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            raise Refused(422, f"the parameter is {clip(name)}, expected {', '.join(known)}{meant(name, known)}")


def _body(content: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a body that the end point reads itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": content}}}}


async def body_of(request: Request, most: int, hold: Callable[[int], object] = int) -> bytes:
    """Return the body of a request, which is refused as soon as it is seen to be too large.

    Args:
        request: the request.
        most: bytes.
        hold: called with the size of each part.

    Raises:
        Refused: the body is larger.
    """
    body, declared = bytearray(), request.headers.get("content-length", "0")
    large = Refused(413, f"the body is larger than {most:,} bytes, which is the most that is taken; split it")
    if declared.isdecimal() and int(declared) > most:
        raise large
    async for chunk in request.stream():
        if len(body) + len(chunk) > most:
            raise large
        hold(len(chunk))
        body += chunk
    return bytes(body)


async def hung_up(request: Request) -> None:
    """Wait until the client of a request has hung up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def add_handlers(app: FastAPI) -> None:
    """One shape for all errors; handlers are asynchronous, as the framework calls others in threads."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return _error(error.status, error.message, _HEADERS.get(error.status))

    @app.exception_handler(HTTPException)
    async def by_framework(_: Request, error: HTTPException) -> Response:
        return _error(error.status_code, _FRAMEWORK.get(error.status_code, error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    async def parameter(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return _error(422, f"{first['loc'][-1]} is {str(first['input'])[:60]!r}: {first['msg'].lower()}")

    @app.exception_handler(Gone)
    @app.exception_handler(ClientDisconnect)
    async def ended(*_: object) -> Response:
        return Response(status_code=_HUNG_UP)

    @app.exception_handler(Exception)
    async def failed(*_: object) -> Response:
        return _error(500, "the server failed at this request; see its log")


_HEADERS = {503: {"Retry-After": "1"}, 408: {"Connection": "close"}}
_FRAMEWORK = {
    404: "there is no such page; see /docs",
    405: "this method is not served here; see /docs",
}


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status, headers=headers)
