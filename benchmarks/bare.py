"""A bare loop in C that reads rows and adds them up: what the machine's memory allows."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from hatch_build import MISSING, compiler

SOURCE = """
#include <stdint.h>
void add_rows(const int32_t *indices, int64_t n, const float *restrict rows, int64_t width,
              float *restrict total) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < width; r++) total[r] += rows[indices[i] * width + r];
}
"""


@cache
def _function() -> ctypes._NamedFuncPointer:
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name) / "bare.c", Path(name) / "bare.so"
        source.write_text(SOURCE, encoding="utf-8")
        command = [*(compiler() or sys.exit(MISSING)), "-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run([*command, "-o", str(library), str(source)], check=True)
        return ctypes.CDLL(str(library)).add_rows


def read_rows(indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the sum of rows (N, K) of float32, in the order of int32 indices."""
    indices, rows = np.ascontiguousarray(indices, np.int32), np.ascontiguousarray(rows, np.float32)
    total = np.zeros(rows.shape[1], np.float32)
    at = [ctypes.c_void_p(array.ctypes.data) for array in (indices, rows, total)]
    _function()(at[0], ctypes.c_int64(len(indices)), at[1], ctypes.c_int64(rows.shape[1]), at[2])
    return total
