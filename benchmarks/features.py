"""Speed and memory of features: keys, index and look-up, on one core.

    python benchmarks/features.py TRAIN TEST [--features genia] [--jobs 1]

prints one JSON object; every time is the best of three, after everything is compiled.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import time
from collections.abc import Callable
from datetime import date
from typing import TypeVar

from spanloom.features import FeatureIndex, FeatureSet, available_columns, build_index
from spanloom.formats import read

R = TypeVar("R")


def timed(function: Callable[[], R], repeats: int = 3) -> tuple[float, R]:
    """Seconds of the fastest run, and the last run's result."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def peak() -> int:
    """The largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--features", default="genia")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    train, test = list(read(options.train)), list(read(options.test))
    features = FeatureSet.preset(options.features, available=available_columns([*train, *test]))
    before = peak()
    compile_seconds, _ = timed(lambda: build_index(features.keys(test[:1])).index.lookup(features.keys(test[:1])), 1)
    keys_seconds, keys = timed(lambda: features.keys(train, n_jobs=options.jobs))
    keys_peak = peak()
    build_seconds, built = timed(lambda: build_index(keys))
    build_peak = peak()
    test_keys_seconds, test_keys = timed(lambda: features.keys(test, n_jobs=options.jobs))
    lookup_seconds, found = timed(lambda: built.index.lookup(test_keys, n_jobs=options.jobs))
    state = built.index.state()
    load_seconds, _ = timed(lambda: FeatureIndex.from_state(state))
    tokens, test_tokens = len(keys.offsets) - 1, len(test_keys.offsets) - 1
    report = {
        "date": date.today().isoformat(),
        "machine": platform.processor() or platform.machine(),
        "features": options.features,
        "jobs": options.jobs,
        "compile_or_load_kernels_s": round(compile_seconds, 2),
        "train_tokens": tokens,
        "train_keys": len(keys.ids),
        "train_keys_s": round(keys_seconds, 3),
        "index_and_matrix_s": round(build_seconds, 3),
        "rows_after_merging": len(built.index),
        "keys_before_merging": int(built.index.group_sizes.sum()),
        "matrix_entries": len(built.matrix.indices),
        "memory_mb": {"documents": before, "keys": keys_peak, "index": build_peak},
        "test_tokens": test_tokens,
        "test_keys_s": round(test_keys_seconds, 4),
        "test_lookup_s": round(lookup_seconds, 4),
        "test_tokens_per_s": round(test_tokens / (test_keys_seconds + lookup_seconds)),
        "test_keys_known": round(len(found.indices) / max(1, len(test_keys.ids)), 4),
        "state_mb": round(sum(array.nbytes for array in state.values()) / 1e6, 1),
        "load_state_s": round(load_seconds, 3),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
