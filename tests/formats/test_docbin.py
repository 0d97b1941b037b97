"""spaCy's DocBin: written for spaCy, read without it, whatever a file holds."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import DocBin, Span, SpanGroup
from srsly import msgpack, msgpack_dumps

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError, SpanloomError
from spanloom.formats import read, validate, write
from spanloom.text import prepare

NLP = spacy.blank("en")


def saved(folder: Path, *docs: spacy.tokens.Doc, **options: object) -> Path:
    DocBin(docs=docs, **options).to_disk(folder / "a.spacy")
    return folder / "a.spacy"


def test_the_bundled_notes_come_back(tmp_path: Path) -> None:
    documents = [prepare(document) for document in read(clinical() / "train")]
    losses = write(documents, tmp_path / "a.spacy")
    assert {*losses.counts} == {"heads", "mention identifiers", "meta fields"}
    for given_document, found in zip(documents, read(tmp_path / "a.spacy"), strict=True):
        assert (found.text, found.id) == (given_document.text, given_document.id)
        assert found.tokens.tolist() == given_document.tokens.tolist()
        assert found.sentences.tolist() == given_document.sentences.tolist()
        assert [mention.key for mention in found.mentions] == [mention.key for mention in given_document.mentions]
    before = (tmp_path / "a.spacy").read_bytes()
    write(documents, tmp_path / "a.spacy", force=True)
    assert (tmp_path / "a.spacy").read_bytes() == before


def test_what_spacy_sees(tmp_path: Path) -> None:
    note = Document(
        "Mild or  severe pain.\nNo fever", tokens=[(0, 4), (5, 7), (9, 15), (16, 20), (20, 21), (22, 24), (25, 30)]
    )
    note.columns = {"pos": ["JJ", "CC", "JJ", "NN", ".", "DT", "NN"], "x": ["a"] * 7}
    note.sentences = [[0, 5], [5, 7]]
    note.mentions = [
        Mention("problem", [(0, 4), (16, 20)], score=0.5),
        Mention("problem", [(9, 20)], concepts=["C:1", "C:2"]),
        Mention("sign", [(16, 20)]),
        Mention("sign", [(25, 29)]),
    ]
    losses = write([note.copy(sentences=note.sentences)], tmp_path / "a.spacy")
    assert dict(losses.counts) == {
        "token columns": 1,
        "concepts but the first": 1,
        "mentions that cut a token": 1,
    }
    [doc] = DocBin().from_disk(tmp_path / "a.spacy").get_docs(NLP.vocab)
    assert doc.text == note.text
    assert [(span.text, span.label_, span.kb_id_, span.id_) for span in doc.spans["sc"]] == [
        ("Mild", "problem", "", "spanloom-0"),
        ("pain", "problem", "", "spanloom-0"),
        ("severe pain", "problem", "C:1", ""),
        ("pain", "sign", "", ""),
    ]
    assert doc.spans["sc"].attrs["scores"] == [0.5, 0.5, None, None]
    assert [(span.text, span.label_) for span in doc.ents] == [("severe pain", "problem")]
    assert [sentence.text for sentence in doc.sents] == ["Mild or  severe pain.\n", "No fever"]
    [found] = read(tmp_path / "a.spacy")
    assert found.mentions == [note.mentions[0], note.mentions[1].replace(concepts=("C:1",)), note.mentions[2]]
    assert found.columns == {"pos": note.columns["pos"]}
    assert found.sentences.tolist() == [[0, 5], [5, 7]]


def test_documents_of_spacy(tmp_path: Path) -> None:
    doc = NLP("I saw Paris  today.\n\nOk ")
    doc.set_ents([doc.char_span(6, 11, label="GPE", kb_id="Q90")])
    doc.spans["sc"] = [Span(doc, 2, 3, label="GPE", kb_id="Q90"), Span(doc, 0, 3, label="x", span_id="rule")]
    rules = [Span(doc, 4, 5, span_id="rule"), Span(doc, 0, 1, span_id="rule")]
    doc.spans["other"] = [Span(doc, 2, 3, label="GPE"), *rules]
    path = saved(tmp_path, doc, NLP(""), NLP("No."))
    first, empty, last = read(path)
    assert (first.text, first.words) == (doc.text, ["I", "saw", "Paris", "today", ".", "Ok"])
    assert first.mentions == [
        Mention("GPE", [(6, 11)], concepts=["Q90"]),
        Mention("x", [(0, 11)]),
        Mention("other", [(13, 18)]),
        Mention("other", [(0, 1)]),
    ]
    assert (empty.text, last.text, last.sentences) == ("", "No.", None)
    assert [document.mentions for document in read(path, mentions=False)] == [[], [], []]


def test_words_without_spaces_and_mentions_of_the_component(tmp_path: Path) -> None:
    doc = spacy.tokens.Doc(NLP.vocab, words=["Mild", "or", "severe", "pain"])
    parts = [Span(doc, 0, 1, label="p", span_id="0"), Span(doc, 3, 4, label="p", span_id="0")]
    doc.spans["spanloom"] = SpanGroup(doc, name="spanloom", spans=parts, attrs={"mentions": [], "scores": [0.5, 0.5]})
    [found] = read(saved(tmp_path, doc))
    assert found.text == doc.text
    assert found.mentions == [Mention("p", [(0, 4), (15, 19)], score=0.5)]


def test_attributes_of_the_component_and_of_damaged_files(tmp_path: Path) -> None:
    doc = spacy.tokens.Doc(NLP.vocab, words=["Mild", "or", "severe", "pain"])
    parts = [Span(doc, 0, 1, label="p", span_id="0"), Span(doc, 3, 4, label="p", span_id="0")]
    record = {"type": "p", "spans": [[0, 4], [15, 19]], "attributes": {"negated": True}}
    doc.spans["spanloom"] = SpanGroup(doc, name="spanloom", spans=parts, attrs={"mentions": [record]})
    [found] = read(saved(tmp_path, doc))
    assert found.mentions == [Mention("p", [(0, 4), (15, 19)], attributes={"negated": True})]
    doc.spans["spanloom"] = SpanGroup(doc, name="spanloom", spans=parts, attrs={"attributes": [3, {"x": [{}]}]})
    [problem] = validate(saved(tmp_path, doc))
    assert "found a damaged record (DataError: a mention of type 'p': its attributes are 3" in str(problem)


PIECES = st.sampled_from(["pain", "a", " ", "  ", "\n", "\t", "é", "無", "-", "\u00a0"]) | st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=4
)


@settings(max_examples=60)
@given(st.lists(PIECES, max_size=10), st.randoms(use_true_random=False))
def test_every_text_with_any_tokens_comes_back(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], draw: random.Random
) -> None:
    text, tokens, at = "".join(pieces), [], 0
    for piece in pieces:
        if piece.strip() and draw.random() < 0.8:
            tokens.append((at, at + len(piece)))
        at += len(piece)
    mentions = []
    for _ in range(3 if tokens else 0):
        ends = sorted(draw.sample(range(len(tokens) + 1), min(len(tokens) + 1, 2 * draw.randint(1, 2))))
        spans = [(tokens[first][0], tokens[end - 1][1]) for first, end in zip(ends[::2], ends[1::2], strict=False)]
        mentions.append(Mention(draw.choice(["x", "PERSON", "ä b"]), spans, score=draw.choice([None, 0.25])))
    mentions = list({mention.key: mention for mention in mentions}.values())
    document = Document(text, id="n", tokens=tokens, mentions=mentions)
    path = tmp_path_factory.mktemp("docbin") / "a.spacy"
    assert not write([document], path)
    [found] = read(path)
    assert (found.text, found.mentions) == (text, [trimmed(mention, text) for mention in mentions])
    [doc] = DocBin().from_disk(path).get_docs(NLP.vocab)
    assert doc.text == text


def message(**changes: object) -> bytes:
    doc = NLP("No pain today.")
    doc.spans["sc"] = [Span(doc, 1, 2, label="x")]
    sound = msgpack.loads(zlib.decompress(DocBin(docs=[doc]).to_bytes()), raw=False)
    return zlib.compress(msgpack.dumps({**sound, **changes}, use_bin_type=True))


def group(*row: int) -> list[bytes]:
    span = msgpack.dumps({"name": "sc", "attrs": {}, "spans": [struct.pack(">QQQllll", *row)]}, use_bin_type=True)
    return [msgpack.dumps({span: ["sc"]}, use_bin_type=True)]


HOSTILE = {
    "nothing": (b"", "cut short"),
    "no zlib": (b"x" * 100, "found no .spacy file, or a damaged one"),
    "cut short": (message()[:-5], "cut short"),
    "no msgpack": (zlib.compress(b"\xc1"), "found a damaged file"),
    "a list": (zlib.compress(msgpack.dumps([1])), "found a list, expected an object"),
    "no fields": (zlib.compress(msgpack.dumps({"attrs": [65]})), "found a damaged file, or none of spaCy's (KeyError"),
    "no words": (message(attrs=[1]), "found a damaged file, or none of spaCy's"),
    "other lengths": (message(lengths=struct.pack("<i", 900)), "its arrays are not of one length"),
    "negative lengths": (message(lengths=struct.pack("<ii", -1, 5)), "its arrays are not of one length"),
    "odd bytes": (message(tokens=b"abc"), "found a damaged file"),
    "unknown words": (message(strings=[]), "docs[0]: found a damaged record (KeyError"),
    "far tokens": (message(span_groups=group(0, 0, 0, 10**9, 10**9 + 1, 0, 1)), "a span of tokens 1000000000 to"),
    "negative tokens": (message(span_groups=group(0, 0, 0, -5, 2, 0, 1)), "a span of tokens -5 to 2, of 4"),
    "a reversed span": (message(span_groups=group(0, 0, 0, 2, 1, 0, 1)), "a span of tokens 2 to 1, of 4"),
    "an unknown type": (message(span_groups=group(0, 0, 7**20, 1, 2, 0, 1)), "found a damaged record (KeyError"),
    "groups are text": (message(span_groups=[b"\xc1\xc1"]), "found a damaged record (DataError"),
    "user data are text": (message(user_data=[b"\xc1"]), "found a damaged record (DataError"),
    "a bomb": (zlib.compress(b"\0" * (80 << 20)), "holds more than 500 times its size"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(tmp_path: Path, name: str) -> None:
    content, expected = HOSTILE[name]
    (tmp_path / "a.spacy").write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read(tmp_path / "a.spacy"))
    assert expected in str(caught.value)
    assert [problem.severity for problem in validate(tmp_path / "a.spacy")] == ["error"]


def test_changed_bytes_are_read_or_refused(tmp_path: Path) -> None:
    sound = zlib.decompress(message())
    draw = random.Random(0)
    for _ in range(300):
        changed = bytearray(sound)
        for _ in range(draw.randint(1, 4)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        (tmp_path / "a.spacy").write_bytes(zlib.compress(bytes(changed)))
        try:
            list(read(tmp_path / "a.spacy"))
        except SpanloomError as error:
            assert "\n" not in str(error)


def packed_span(label: str, first: int, end: int, start: int, behind: int, name: str = "") -> bytes:
    number = NLP.vocab.strings.add(name) if name else 0
    return struct.pack(">QQQllll", number, 0, NLP.vocab.strings.add(label), first, end, start, behind)


def older(folder: Path, span_groups: list[bytes] | None, **changes: object) -> Path:
    """A file as older versions write it, of the two documents "No fever ." and "She had pain"."""
    words = ["No", "fever", ".", "She", "had", "pain"]
    strings = [*words, "Problem", "Finding", "old", "spanloom-0"]
    hashes = [NLP.vocab.strings.add(text) for text in strings]
    message = {
        "version": "0.1",
        "attrs": [spacy.attrs.ORTH],
        "tokens": struct.pack("<6Q", *hashes[:6]),
        "spaces": bytes([1, 1, 0, 1, 1, 0]),
        "lengths": struct.pack("<2i", 3, 3),
        "strings": strings,
        "cats": [{}, {}],
        "flags": [{"has_unknown_spaces": False}] * 2,
        **({} if span_groups is None else {"span_groups": span_groups}),
        **changes,
    }
    (folder / "a.spacy").write_bytes(zlib.compress(msgpack_dumps(message)))
    return folder / "a.spacy"


def packed_group(*spans: bytes, name: str = "sc") -> bytes:
    return msgpack_dumps({"name": name, "attrs": {}, "spans": list(spans)})


FEVER = packed_span("Problem", 1, 2, 3, 8)


@pytest.mark.parametrize(
    "packed",
    [
        msgpack_dumps([packed_group(FEVER)]),
        msgpack_dumps([packed_group(name="empty"), packed_group(FEVER, name="other")]),
        msgpack_dumps(
            [packed_group(packed_span("Finding", 0, 1, 0, 2)), packed_group(FEVER)]
        ),  # of one name: the last, as spaCy has it
        msgpack_dumps({packed_group(FEVER): ["sc"]}),
        msgpack_dumps({packed_group(FEVER, name="x"): ["sc", "again"]}),
    ],
)
def test_span_groups_of_every_spacy_3(tmp_path: Path, packed: bytes) -> None:
    path = older(tmp_path, [packed, b""])
    first, second = read(path)
    assert (first.text, first.mentions) == ("No fever .", [Mention("Problem", [(3, 8)])])
    assert (second.text, second.mentions) == ("She had pain", [])
    seen = [
        {(one.label_, one.start_char, one.end_char) for spans in doc.spans.values() for one in spans}
        for doc in DocBin().from_disk(path).get_docs(NLP.vocab)
    ]
    assert seen == [{("Problem", 3, 8)}, set()]


@pytest.mark.parametrize("span_groups", [None, [b"", b""], [msgpack_dumps([])] * 2, [msgpack_dumps({})] * 2, []])
def test_files_without_groups(tmp_path: Path, span_groups: list[bytes] | None) -> None:
    assert [document.mentions for document in read(older(tmp_path, span_groups))] == [[], []]


def test_user_data_with_keys_of_several_parts(tmp_path: Path) -> None:
    data = [msgpack_dumps({("._.", "seen", None, None): True, "id": "n1"}), msgpack_dumps({"id": 7})]
    assert [document.id for document in read(older(tmp_path, None, user_data=data))] == ["n1", ""]
    [doc] = [NLP("No fever.")]
    doc.set_extension("seen", default=False, force=True)
    doc._.seen = True
    assert [document.text for document in read(saved(tmp_path, doc, store_user_data=True))] == ["No fever."]


def test_a_span_of_no_token_is_left_out_and_counted(tmp_path: Path) -> None:
    path = older(tmp_path, [msgpack_dumps([packed_group(packed_span("Problem", 1, 1, 3, 3), FEVER)]), b""])
    with pytest.warns(match=r"docs\[0\]: mentions\[0\]: the mention at 0-0 has no character; it is left out"):
        assert [len(document.mentions) for document in read(path)] == [1, 0]
