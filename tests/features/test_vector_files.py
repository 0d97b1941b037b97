"""Readers of word vectors: each form says the same; hostile files get one line that names the place."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from safetensors.numpy import save_file

from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.features.vector_files import read_vectors

WORDS = ["the", "naïve", "IL-2"]
MATRIX = np.array([[0.5, -1.25], [2, 0.001], [-3e-5, 7]], np.float32)


def as_text(words=WORDS, matrix=MATRIX, end="\n"):
    return "".join(f"{word} {' '.join(map(str, row.tolist()))}{end}" for word, row in zip(words, matrix, strict=True))


def as_binary(words=WORDS, matrix=MATRIX, header=None, end=b"\n"):
    rows = b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + end for word, row in zip(words, matrix, strict=True)
    )
    return (header or f"{len(words)} {matrix.shape[1]}\n".encode()) + rows


def written(folder, form):
    folder.mkdir(exist_ok=True)
    name = {"npy": "v.npy", "safetensors": "v.safetensors"}.get(form, "v.bin" if "binary" in form else "v.vec")
    path = folder / name
    if form == "npy":
        np.save(path, MATRIX)
    elif form == "npy of doubles":
        np.save(path, MATRIX.astype(float))
    elif form == "safetensors":
        save_file({"embedding": MATRIX, "other": np.zeros(3)}, path)
    else:
        path.write_bytes(
            {
                "glove": as_text().encode(),
                "word2vec": f"3 2\n{as_text(end=' ' + chr(10))}".encode(),
                "windows": b"\xef\xbb\xbf" + f"3 2\r\n{as_text(end=chr(13) + chr(10))}".encode(),
                "tabs": as_text().replace(" ", "\t").encode(),
                "no last line end": as_text().rstrip().encode(),
                "binary": as_binary(),
                "binary without line ends": as_binary(end=b""),
            }[form]
        )
    if form in ("npy", "safetensors"):
        (folder / "v.txt").write_text("".join(word + "\n" for word in WORDS), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "form",
    [
        "glove", "word2vec", "windows", "tabs", "no last line end", "binary", "binary without line ends", "npy",
        "safetensors",
    ],
)  # fmt: skip
def test_each_form_says_the_same(tmp_path, form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_vectors(written(tmp_path, form))
    assert found.words == WORDS
    assert found.vectors.dtype == np.float32
    assert (found.vectors == MATRIX).all()


def test_a_word_may_hold_blanks_where_its_parts_are_no_numbers(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("the 1 2\n. . 3 4\nat name@domain 5 6\n")
    assert read_vectors(path).words == ["the", ". .", "at name@domain"]


def test_of_a_word_that_stands_twice_the_first_counts(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\nb 3 4\na 5 6\na 7 8\n")
    with pytest.warns(DataWarning, match=r"2 vectors of words that occur earlier, first 'a' in line 3"):
        found = read_vectors(path)
    assert found.words == ["a", "b"]
    assert found.vectors.tolist() == [[1, 2], [3, 4]]


TEXTS = {
    "empty": ("", "no word vector"),
    "only a header": ("0 5\n", "no word vector"),
    "a blank first line": ("\na 1 2\n", ":1: found 0 values behind the word, expected some numbers"),
    "too few": ("a 1 2\nb 1\n", ":2: found 1 value behind the word, expected 2"),
    "too many": ("a 1 2\nb 1 2 3\n", ":2: found 3 values behind the word, expected 2"),
    "a blank line": ("a 1 2\n\nb 1 2\n", ":2: found 0 values"),
    "no numbers": ("a\nb\n", ":1: found 0 values"),
    "no number": ("a 1 2\nb 1 x\n", ":2: found 'x', expected a number"),
    "nan": ("a 1 2\nb 1 nan\n", ":2: found a number that is not finite"),
    "inf": ("2 2\na 1 2\nb inf 2\n", ":3: found a number that is not finite"),
    "too large": ("a 1 1e60\n", ":1: found a number that is not finite"),
    "header of more words": ("3 2\na 1 2\nb 3 4\n", ":1: found 2 words, but the first line has 3"),
    "header of fewer words": ("1 2\na 1 2\nb 3 4\n", ":1: found 2 words, but the first line has 1"),
    "header of other numbers": ("2 3\na 1 2\nb 3 4\n", ":2: found 2 values behind the word, expected 3"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_hostile_text(tmp_path, case):
    text, message = TEXTS[case]
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_of_another_encoding(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes("a 1 2\nnaïve 3 4\n".encode("latin-1"))
    with pytest.raises(DataError, match=":2: found bytes that are not UTF-8"):
        read_vectors(path)


BINARIES = {
    "empty": (b"", "no first line"),
    "text": (as_text().encode(), "no first line"),
    "cut in the first words": (as_binary()[:20], "found 20 bytes, expected 34 or more"),
    "cut at the end": (as_binary(["longerwords"] * 3)[:-5], "found the end in word 3 of 3"),
    "no blank": (b"2 2\n" + b"x" * 60, "found the end in word 1 of 2"),
    "a header of fewer words": (as_binary(header=b"2 2\n"), "bytes behind 2 words of 2 numbers"),
    "a header of a million million words": (as_binary(header=b"1000000000000 300\n"), "cut off"),
    "a word of other bytes": (b"1 1\n\xff\xfe \x00\x00\x00\x00\n", "word 1 that are not UTF-8"),
    "nan": (as_binary(matrix=MATRIX * np.float32(np.nan)), "not finite, expected finite numbers; the word is 'the'"),
}


@pytest.mark.parametrize("case", BINARIES)
def test_hostile_binaries(tmp_path, case):
    data, message = BINARIES[case]
    path = tmp_path / "v.bin"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert message in str(caught.value)


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def save_arrays(folder, case):
    path = folder / "v.npy"
    arrays = {"one axis": np.zeros(3), "text": np.array([["a", "b"]] * 3), "no rows": np.zeros((0, 2))}
    if case in arrays:
        np.save(path, arrays[case])
    elif case == "objects":
        np.save(path, np.array([[Trap()]] * 3, object), allow_pickle=True)
    elif case == "a pickle":
        path.write_bytes(pickle.dumps(Trap()))
    elif case == "cut off":
        np.save(path, MATRIX)
        path.write_bytes(path.read_bytes()[:-3])
    elif case == "several":
        with path.open("wb") as file:
            np.savez(file, a=MATRIX)
    elif case == "more rows":
        np.save(path, np.zeros((4, 2)))
    elif case == "a cut archive":
        path.write_bytes(b"PK\x03\x04garbage")
    elif case in ("a huge shape", "an odd shape", "an open bracket"):
        shape = {"a huge shape": "(99999999999999999999999, 3)", "an odd shape": "(2, True)"}.get(case, "(2, 3")
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24))
    elif case == "inf":
        np.save(path, np.full((3, 2), 1e300))
    (folder / "v.txt").write_text("" if case == "no rows" else "a\nb\nc\n")
    return path


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("objects", "no array that can be read"),
        ("a pickle", "no array that can be read"),
        ("cut off", "no array that can be read"),
        ("several", "expected a matrix"),
        ("a cut archive", "no array that can be read"),
        ("a huge shape", "no array that can be read"),
        ("an odd shape", "no array that can be read"),
        ("an open bracket", "no array that can be read"),
        ("one axis", r"an array of float64 of shape \(3,\), expected a matrix"),
        ("text", "expected a matrix of numbers"),
        ("no rows", "no word vector"),
        ("more rows", r"v\.txt: found 3 words, but v\.npy has 4 rows"),
        ("inf", "not finite"),
    ],
)
def test_hostile_arrays(tmp_path, case, message):
    with pytest.raises(DataError, match=message):
        read_vectors(save_arrays(tmp_path, case))


def test_hostile_safetensors(tmp_path):
    path = tmp_path / "v.safetensors"
    path.write_bytes(b"\xff" * 40)
    with pytest.raises(DataError, match="no arrays that can be read"):
        read_vectors(path)
    save_file({"a": MATRIX, "b": MATRIX}, path)
    with pytest.raises(DataError, match="found 2 matrices among 2 arrays, expected one"):
        read_vectors(path)


def test_hostile_lists_of_words(tmp_path):
    np.save(tmp_path / "v.npy", MATRIX)
    words = tmp_path / "v.txt"
    with pytest.raises(UsageError, match=r"words of the vectors are missing: give them in '.*v\.txt'"):
        read_vectors(tmp_path / "v.npy")
    words.write_text("a\n\nb\n")
    with pytest.raises(DataError, match=":2: found an empty line"):
        read_vectors(tmp_path / "v.npy")
    words.write_bytes(b"a\n\xff\nb\n")
    with pytest.raises(DataError, match=":2: found bytes that are not UTF-8"):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize("name", ["none.txt", "none.bin", "none.npy", "none.safetensors"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be read"):
        read_vectors(tmp_path / name)
    with pytest.raises(UsageError, match="cannot be read"):
        read_vectors(tmp_path)
