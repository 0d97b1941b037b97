"""Ray and Spark as executors, on this machine: the same bytes as one process, and errors in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from engine_helpers import java

from spanloom.errors import UsageError
from spanloom.learn.executors import Ray, Spark

BODY = """
import os, sys
from pathlib import Path
from spanloom import Document, Mention, Recognizer
from spanloom.errors import DataError, SpanloomError
from spanloom.learn import shards
from spanloom.learn.executors import executor_named

def fails(number):
    if number == 2:
        raise DataError("the second is damaged")
    return number

def dies(number):
    os._exit(1)

def main(name, folder):
    with executor_named(name, 2) as executor:
        assert executor.map(abs, [-3, 2, -1]) == [3, 2, 1] and executor.map(abs, []) == []
        for function, message in ((fails, "the second is damaged"), (dies, name.title() + " did not finish its work")):
            try:
                executor.map(function, [1, 2, 3])
            except SpanloomError as error:
                assert str(error).startswith(message) and len(str(error).splitlines()) == 1, error
            else:
                raise AssertionError(message)
        shards._LEAST = 20  # so that there are some
        given = [Document("no chest pain", str(n), mentions=[Mention("x", [(3, 13)])]) for n in range(60)]
        found = []
        for work, chosen in ((None, "threads"), (folder, executor)):
            model = Recognizer(optimizer="lbfgs", iterations=4, l2=1.0, features="small", n_jobs=2)
            model.fit(given, work=work, executor=chosen).save(f"{folder}-{len(found)}")
            found.append(Path(f"{folder}-{len(found)}/weights.safetensors").read_bytes())
    assert found[0] == found[1]

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


@pytest.mark.parametrize(("name", "library"), [("ray", "ray"), ("spark", "pyspark")])
def test_the_model_is_the_same(name: str, library: str, tmp_path: Path) -> None:
    if find_spec(library) is None:
        pytest.skip(f"needs {library}")
    (tmp_path / "script.py").write_text(BODY)
    line = [sys.executable, str(tmp_path / "script.py"), name, str(tmp_path / "work")]
    more = java(tmp_path) if name == "spark" else {}
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=600, check=False, env=os.environ | more)
    assert done.returncode == 0, done.stderr


def test_an_engine_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, executor in (("ray", Ray), ("py4j.protocol", Spark)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UsageError, match=r"an executor of \w+ needs \w+; install it with: pip install"):
            executor(2)
