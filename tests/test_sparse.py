"""Orders of rows by several columns."""

import numpy as np
import pytest

from spanloom.sparse import ascending


@pytest.mark.parametrize(
    "spans", [(1, 1), (3, 1, 4), (40, 7, 2, 1), (1 << 62, 5), (2, (1 << 62) + 1, 3), (1 << 40, 1 << 40, 9)]
)
@pytest.mark.parametrize("rows", [0, 1, 200])
def test_rows_are_ordered_column_by_column(spans: tuple[int, ...], rows: int) -> None:
    random = np.random.default_rng(rows)
    columns = [random.integers(-(span // 2), span - span // 2, rows) for span in spans]
    assert ascending(*columns).tolist() == np.lexsort(columns[::-1]).tolist()


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint8, np.uint32, np.bool_])
def test_columns_of_any_kind_are_ordered(kind: type) -> None:
    random = np.random.default_rng(1)
    columns = [random.integers(0, 1 << 8 * np.dtype(kind).itemsize, 200).astype(kind) for _ in range(3)]
    assert ascending(*columns).tolist() == np.lexsort(columns[::-1]).tolist()


def test_columns_of_any_size_are_ordered() -> None:
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    column, other = np.array([most, least, most, 0]), np.array([2, 0, 1, 3])
    assert ascending(column, other).tolist() == [1, 3, 2, 0]
    assert ascending(other, column).tolist() == [1, 2, 0, 3]
    assert ascending(np.zeros(4, np.int64), column, other).tolist() == [1, 3, 2, 0]
