"""ARPA files that are cut off, contradict themselves, or are none: one line that names the file and the line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from spanloom.document import Document
from spanloom.errors import DataError
from spanloom_lab.lm.language_model import LanguageModel

GOOD = """made by hand

\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-2\t<unk>
-99\t<s>\t-0.5
-1\t</s>
-0.75\tchest\t-0.25
-0.5\tpain\t-0.125

\\2-grams:
-0.25\t<s> chest\t-0.0625
-0.5\tchest pain
-0.375\tpain </s>

\\3-grams:
-0.125\t<s> chest pain

\\end\\
"""


def written(tmp_path, text, name="lm.arpa"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def words(text):
    rows = text.split()
    ends = np.cumsum([len(word) + 1 for word in rows]) - 1
    starts = ends - [len(word) for word in rows]
    return Document(text, tokens=np.stack([starts, ends], 1), sentences=[[0, len(rows)]])


@pytest.mark.parametrize(
    "text",
    [GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\t", " "), "\ufeff" + GOOD, GOOD.replace("\\end\\\n", "\\end\\")],
)
def test_probabilities_by_hand(text, tmp_path):
    model = LanguageModel.read_arpa(written(tmp_path, text))
    found = model.log_probabilities([words("chest pain chest zzz pain")]) / np.log(10)
    assert found.tolist() == pytest.approx(
        np.array(
            [
                [-0.75, -0.25, -0.25],  # <s> chest
                [-0.5, -0.5, -0.125],  # <s> chest pain
                [-0.75, -0.875, -0.875],  # pain chest is not there: pain's weight; nor is the context chest pain above
                [-2, -2.25, -2.25],  # unknown: chest's weight
                [-0.5, -0.5, -0.5],  # after an unknown word
            ]
        )
    )


def test_a_compressed_file_and_higher_orders(tmp_path):
    longer = GOOD.replace("ngram 3=1", "ngram 3=1\nngram 4=1").replace("<s> chest pain\n", "<s> chest pain\t-0.5\n")
    longer = longer.replace("\\end\\", "\\4-grams:\n-0.1\t<s> chest pain </s>\n\n\\end\\")
    one = LanguageModel.read_arpa(written(tmp_path, gzip.compress(longer.encode()), "lm.arpa.gz"))
    other = LanguageModel.read_arpa(written(tmp_path, GOOD))
    assert one.order == 3
    document = [words("chest pain chest")]
    assert np.array_equal(one.log_probabilities(document), other.log_probabilities(document))


def test_markers_that_are_not_listed(tmp_path):
    text = GOOD.replace("ngram 1=5", "ngram 1=4").replace("-2\t<unk>\n", "")
    model = LanguageModel.read_arpa(written(tmp_path, text))
    assert model.log_probabilities([words("zzz")])[0, 0] == pytest.approx(-100 * np.log(10))
    assert LanguageModel.read_arpa(written(tmp_path, GOOD.replace("<unk>", "<UNK>"))).words == model.words


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (GOOD, "", None, "\\data\\"),
        (GOOD, "pain\n", 1, "\\data\\"),
        ("ngram 1=5", "ngram 2=5", 4, "1-grams"),
        ("ngram 1=5\nngram 2=3\nngram 3=1\n", "", 5, "how many n-grams"),
        ("ngram 1=5", "ngram 1=999999999999999999", 15, "999,999,999,999,999,999"),
        ("ngram 1=5", "ngram 1=4", 13, "\\2-grams:"),
        ("ngram 1=5", "ngram 1=-5", 4, "how many n-grams"),
        ("\\2-grams:", "\\3-grams:", 15, "\\2-grams:"),
        ("\\end\\\n", "", 22, "\\end\\"),
        ("\n\\3-grams:\n-0.125\t<s> chest pain\n\n\\end\\\n", "", 18, "the end of the file"),
        ("-0.5\tchest pain", "0.5\tchest pain", 17, "at most 0"),
        ("-0.5\tchest pain", "nan\tchest pain", 17, "'nan'"),
        ("-0.5\tchest pain", "-inf\tchest pain", 17, "'-inf'"),
        ("-0.5\tchest pain", "-1_0\tchest pain", 17, "'-1_0'"),
        ("-0.5\tchest pain", "one chest pain", 17, "'one'"),
        ("-0.5\tchest pain", "chest pain", 17, "a logarithm and 2 words"),
        ("-0.5\tchest pain", "-0.5\tpain", 17, "a logarithm and 2 words"),
        ("-0.5\tchest pain", "-0.5\tchest pain -1 -1", 17, "a logarithm and 2 words"),
        ("-0.5\tchest pain", "-0.5\tchest ache", 17, "'ache'"),
        ("-0.5\tchest pain", "-0.5\t<s> chest", 17, "twice"),
        ("<s>\t-0.5", "<s>\t1e400", 10, "back-off weight"),
        ("-0.5\tpain\t-0.125", "-0.5\tchest\t-0.125", 13, "twice"),
        ("-0.125\t<s> chest pain", "-0.125\t<s> chest pain\t-1", 21, "a logarithm and 3 words"),
        ("-0.125\t<s> chest pain", "-0.125\t<s> pain chest", 21, "whose first words"),
        ("-0.125\t<s> chest pain", "-0.125\tpain chest pain", 21, "whose first words"),
        ("-0.5\tchest pain", "-0.5\tchest p\0ain", 17, "NUL"),
    ],
)
def test_files_that_contradict_themselves(old, new, line, said, tmp_path):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(DataError) as caught:
        LanguageModel.read_arpa(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert said in message
    assert "\n" not in message
    assert len(message) < 500


def test_files_that_are_no_text(tmp_path):
    for data, said in ((b"\\data\\\nngram 1=\xff\n", "0xFF"), (GOOD.encode("utf-16"), "it is likely utf-16")):
        with pytest.raises(DataError, match=said):
            LanguageModel.read_arpa(written(tmp_path, data))
    packed = gzip.compress(GOOD.encode())
    for data in (b"no gzip", packed[:-20], packed[:15] + b"\0\0\0\0" + packed[19:]):
        with pytest.raises(DataError, match="gzip"):
            LanguageModel.read_arpa(written(tmp_path, data, "lm.arpa.gz"))
    with pytest.raises(DataError, match="cannot be read"):
        LanguageModel.read_arpa(tmp_path / "none.arpa")
    with pytest.raises(DataError, match="cannot be read"):
        LanguageModel.read_arpa(tmp_path / "none.arpa.gz")
