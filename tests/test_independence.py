"""What a model finds in a document depends on the two alone: not on company, order, batches, threads or the way in.

The campaign `python tests/hostile/campaign independence` is the long form, with more kinds of models.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).with_name("hostile")))

from campaign import independence

EXTRAS = ("torch", "transformers", "onnxruntime")
SHORT = [name for name, kind in independence.KINDS.items() if not kind.slow]


@pytest.mark.parametrize("name", SHORT)
def test_a_document_has_the_record_that_it_has_alone(name: str, tmp_path: Path) -> None:
    for extra in EXTRAS if name in independence.ENCODERS else ():
        pytest.importorskip(extra)
    record = independence.run(range(6), 1, tmp_path, [name])
    assert record.outcomes == {"same": 6}, "\n".join(record.broken)


def test_a_difference_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(*arguments: object) -> list[str]:
        found = independence.by_list(*arguments)  # type: ignore[arg-type]
        return [*found[1:], found[0]]

    monkeypatch.setattr(independence, "WAYS", (shifted,))
    record = independence.run(range(3), 1, tmp_path, ["tagger"])
    assert record.outcomes == {"different": 3}
    assert "alone" in record.broken[0]
