"""The engines themselves, in local mode: what comes back is what the annotator gives."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_helpers import java

from spanloom.errors import UsageError
from spanloom.integrations.engines import with_datasets, with_duckdb, with_polars, with_spark
from spanloom.lake import Annotator

TEXTS = ["No chest pain today.", None, "Severe aortic stenosis was seen.", "😀 The left atrium is dilated."]
TABLE = pa.table({"id": range(20), "ward": ["A"] * 20, "text": TEXTS * 5})


@pytest.fixture
def annotator(model: Path) -> Annotator:
    return Annotator(model, keep=["ward"])


@pytest.fixture
def wanted(annotator: Annotator) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = annotator.table(TABLE).to_pylist()
    assert found[0]["mentions"] and found[1]["problem"]
    return found


def script(tmp_path: Path, model: Path, body: str, **more: str) -> list[dict[str, Any]]:
    """What a script of its own writes: engines with workers start those from the main module."""
    code = f"""
import sys
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet as pq
from spanloom.integrations.engines import with_dask, with_ray, with_spark
from spanloom.lake import Annotator

def main():
    table = pq.read_table({str(tmp_path / "in.parquet")!r})
    annotator = Annotator({str(model)!r}, keep=["ward"])
{body}
    pq.write_table(found, {str(tmp_path / "out.parquet")!r})

if __name__ == "__main__":
    main()
"""
    pq.write_table(TABLE, tmp_path / "in.parquet")
    (tmp_path / "script.py").write_text(code)
    line = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(
        line, capture_output=True, encoding="utf-8", timeout=600, check=False, env={**os.environ, **more}
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = pq.read_table(tmp_path / "out.parquet").sort_by("id").to_pylist()
    return found


def test_datasets(annotator: Annotator, wanted: list[dict[str, Any]]) -> None:
    datasets = pytest.importorskip("datasets")
    made = with_datasets(datasets.Dataset(TABLE), annotator)
    assert made.to_list() == wanted
    assert made.column_names == annotator.schema(TABLE.schema).names


def test_polars(annotator: Annotator, wanted: list[dict[str, Any]]) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.from_arrow(TABLE)
    made = with_polars(frame, annotator)
    assert made.to_dicts() == wanted
    lazy = with_polars(frame.lazy(), annotator)
    assert lazy.collect_schema() == made.schema
    assert lazy.collect().to_dicts() == wanted


def test_duckdb(annotator: Annotator, wanted: list[dict[str, Any]]) -> None:
    duckdb = pytest.importorskip("duckdb")
    notes = duckdb.connect().from_arrow(TABLE)
    assert with_duckdb(notes, annotator).read_all().to_pylist() == wanted
    found = duckdb.connect().from_arrow(with_duckdb(notes, annotator))
    typed = found.query("found", "select id from found, unnest(mentions) as m(m) where m.type = 'problem' order by id")
    assert {row[0] for row in typed.fetchall()} == {
        row["id"] for row in wanted if any(m["type"] == "problem" for m in row["mentions"] or ())
    }


def test_dask(model: Path, tmp_path: Path, wanted: list[dict[str, Any]]) -> None:
    pytest.importorskip("dask.dataframe")
    body = """
    import dask.dataframe as dd
    frame = dd.from_pandas(table.to_pandas(), npartitions=3)
    made = with_dask(frame, annotator).compute(scheduler="processes", num_workers=1)
    found = pa.Table.from_pandas(made, schema=annotator.schema(table.schema), preserve_index=False)
"""
    assert script(tmp_path, model, body) == wanted


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_ray(model: Path, tmp_path: Path, wanted: list[dict[str, Any]]) -> None:
    body = """
    import ray
    ray.init(num_cpus=1, include_dashboard=False)
    made = with_ray(ray.data.from_arrow(table), annotator)
    found = pa.concat_tables(ray.get(made.to_arrow_refs()))
"""
    assert script(tmp_path, model, body) == wanted


@pytest.mark.skipif(find_spec("pyspark") is None, reason="needs PySpark, which the extra for tests leaves out")
def test_spark(model: Path, tmp_path: Path, wanted: list[dict[str, Any]]) -> None:
    body = """
    from pyspark.sql import SparkSession
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    found = with_spark(session.createDataFrame(table), annotator).toArrow()
"""
    assert script(tmp_path, model, body, PYSPARK_PYTHON=sys.executable, **java(tmp_path)) == wanted


def test_an_engine_that_is_missing_is_told(annotator: Annotator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, give in (("polars", with_polars), ("pyspark", with_spark)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UsageError, match=rf'needs {name}; install it with: pip install "spanloom\['):
            give(TABLE, annotator)
