"""`spanloom serve`: how it starts, and how it ends."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from serve_helpers import running

from spanloom.serve.guard import is_loopback


def test_a_request_in_flight_is_finished(models: dict[str, Path]) -> None:
    with running(models["clinical"], "--jobs", 1) as server:
        answers: list[httpx.Response] = []
        body = [{"text": "No chest pain. " * 1000}] * 3
        client = httpx.Client(timeout=60)
        assert client.get(server.url + "health").status_code == 200  # it is connected before the server is ended

        def ask() -> None:
            answers.append(client.post(server.url + "predict", json=body))

        asking = threading.Thread(target=ask)
        asking.start()
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        time.sleep(0.3)
        assert server.stop(signal.SIGTERM) == 0
        asking.join(60)
        idle.close()
        client.close()
        assert [answer.status_code for answer in answers] == [200]
        assert len(answers[0].json()) == 3
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.url + "health")


def test_it_listens_where_it_is_told_and_an_interrupt_ends_it_with_130(models: dict[str, Path]) -> None:
    assert not is_loopback("0.0.0.0")
    with running(f"a name={models['segmenter']}", models["clinical"], "--host", "0.0.0.0") as server:
        place = f"http://127.0.0.1:{server.port}/"
        # by whatever name, for we cannot know our names
        answer = httpx.get(place + "models", headers={"Host": "my.own.name"}).json()
        assert [model["name"] for model in answer["models"]] == ["a name", "clinical"]
        answer = httpx.post(place + "predict", params={"model": "a name"}, json={"text": "无关节疼痛"})
        assert answer.status_code == 200
        assert server.stop(signal.SIGINT) == 130


def test_names_that_are_allowed(models: dict[str, Path]) -> None:
    arguments = ("--host", "0.0.0.0", "--allow-host", "Models.example", "--allow-host", "other.example")
    with running(models["clinical"], *arguments, "--jobs", 1) as server:
        place = f"http://127.0.0.1:{server.port}/models"
        for name, status in (
            ("models.example", 200),
            ("other.example:80", 200),
            ("127.0.0.1", 200),
            ("evil.example", 403),
        ):
            assert httpx.get(place, headers={"Host": name}).status_code == status, name


def test_what_cannot_be_served(command: Callable[..., object], models: dict[str, Path], tmp_path: Path) -> None:
    clinical = models["clinical"]
    twin = tmp_path / "clinical"
    shutil.copytree(clinical, twin)
    for arguments, code, word in (
        ([tmp_path / "nothing"], 1, "nothing"),
        ([clinical, twin], 2, "two models are called 'clinical'"),
        ([clinical, "--host", "no.such.host.invalid"], 2, "--host"),
        ([clinical, "--host", "192.0.2.1"], 2, "--host"),
        ([], 2, ""),
    ):
        done = command("serve", *arguments, "--port", 0)
        assert done.returncode == code, done  # type: ignore[attr-defined]
        assert word in done.stderr  # type: ignore[attr-defined]


def test_a_port_that_is_taken(command: Callable[..., object], models: dict[str, Path]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        done = command("serve", models["clinical"], "--port", other.getsockname()[1])
    assert done.returncode == 2  # type: ignore[attr-defined]
    assert "already in use; choose others with --host and --port" in done.stderr  # type: ignore[attr-defined]


@pytest.mark.parametrize("missing", ["fastapi", "starlette", "uvicorn"])
@pytest.mark.parametrize("verb", ["serve", "annotate"])
def test_without_the_extra_it_says_what_to_install(models: dict[str, Path], verb: str, missing: str) -> None:
    place = str(models["clinical"])
    code = f"import sys\nsys.modules[{missing!r}] = None\nfrom spanloom.cli import main\nmain({[verb, place]})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f'spanloom {verb} needs {missing}; install it with: pip install "spanloom[serve]"' in done.stderr


def test_help_loads_neither_models_nor_server() -> None:
    code = (
        "import sys\nfrom spanloom.cli import main\nsys.stdout = sys.stderr\n"
        "try:\n    main(['serve', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'fastapi', 'uvicorn', 'numpy'} & set(sys.modules)), file=sys.__stdout__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
