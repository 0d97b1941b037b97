"""Damaged files through every reader: read, or refused in one line; and what was read can be written and read again."""

from __future__ import annotations

import json
import shutil
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

from campaign.frame import Record, generator
from campaign.mutate import INSIDE, damaged, damaged_inside
from campaign.trace import changes
from spanloom.annotate.history import import_documents
from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError
from spanloom.features import FeatureSet
from spanloom.features.clusters import read_paths
from spanloom.formats import FORMATS, read, validate, write
from spanloom.formats.store import Store
from spanloom.text import prepare, read_rules
from spanloom.vocabulary import read_vocabulary
from spanloom.vocabulary.read import SCANNERS
from spanloom_lab.lm.arpa import read_arpa
from spanloom_lab.lm.language_model import LanguageModel

LONGEST = 1000  # characters of a message
SLOW = 10.0  # seconds of processor time for a file of some kilobytes
TEXTS = ("No chest pain, mild dyspnea.", "Left and right atria dilated; pain in arm or leg.", "无关节疼痛。")
WRITTEN = tuple(name for name, kind in FORMATS.items() if kind.write is not None)
I2B2 = 'c="no chest pain" 1:0 1:2||t="problem"\nc="mild dyspnea" 1:4 1:5||t="problem"\n'
MARKUP = '<note><TEXT>No chest pain.</TEXT><TAGS><PROBLEM start="3" end="13" text="chest pain"/></TAGS></note>\n'
WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_RL=webanno.custom.Of|kind|BT_de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity


#Text=💊 Mild pain\\t.
1-1\t0-2\t💊\t_\t*\tdrug\\_x\t_\t_\t
1-2\t3-7\tMild\tJJ\tX:1[1]\tproblem[1]\t_\t_\t
1-3\t8-12\tpain\tNN\tX:1[1]|*[2]\tproblem[1]|*[2]\tof\t1-1\t
1-3.1\t8-10\tpa\t_\t*\tpart\t_\t_\t

#Text=No
#Text=fever.
2-1\t15-17\tNo\t_\t_\t_\t_\t_\t
2-2\t18-23\tfever\tNN\t_\t_\t_\t_\t
"""
VOCABULARIES = {
    "medic": "# Fields:\n# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tSynonyms\n"
    "Infarction\tMESH:D1\tOMIM:1|DO:2\tof the heart\tMESH:D2\tHeart Attack|MI\nIschemia\tMESH:D2\t\t\t\tx\n",
    "mesh": "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D1</DescriptorUI><DescriptorName><String>Infarction"
    "</String></DescriptorName><TreeNumberList><TreeNumber>C14.1</TreeNumber></TreeNumberList><ConceptList><Concept "
    'PreferredConceptYN="Y"><TermList><Term><String>Heart Attack</String></Term></TermList></Concept></ConceptList>'
    "</DescriptorRecord></DescriptorRecordSet>\n",
    "obo": 'format-version: 1.2\n\n[Term]\nid: D:1\nname: Infarction\nalt_id: D:9\ndef: "of the \\"heart\\"" [a]\n'
    'synonym: "Heart Attack" EXACT []\nis_a: D:2 ! Ischemia\n\n[Term]\nid: D:2\nname: Ischemia\n',
    "obograph": json.dumps(
        {
            "graphs": [
                {
                    "nodes": [
                        {
                            "id": "http://x/D_1",
                            "lbl": "Infarction",
                            "type": "CLASS",
                            "meta": {"synonyms": [{"pred": "hasExactSynonym", "val": "Heart Attack"}]},
                        }
                    ],
                    "edges": [{"sub": "http://x/D_1", "pred": "is_a", "obj": "http://x/D_2"}],
                }
            ]
        }
    ),
    "rrf": "C1|ENG|P|L2|PF|S2|Y|A2||M1|D1|MSH|MH|D1|Infarction|0|N|256|\n"
    "C1|ENG|S|L1|PF|S1|Y|A1||||MSH|ET|D1|Heart Attack|0|N||\n",
    "table": "id\tname\tsynonyms\nX:1\tInfarction\tHeart Attack|MI\nX:2\tIschemia\t\n",
}  # fmt: skip
OTHERS = {
    "sections": '[sections]\ncourse = "(?i)hospital course"\n\n[notes]\nreport = "echo|ecg"\n',
    "templates": "bias\nw[-1..1]\nngrams(w,2..4)\nbag(low,-5,5)\nw[0]|suffix3[0]\n",
    "clusters": "0010\tpain\t12\n0011\tdyspnea\t7\n01\tthe\t100\n001\tx-d\tshape\n0\t*\tany\n",
    "arpa": "",
}


@dataclass(frozen=True)
class Reader:
    """One kind of file.

    Args:
        name: of the file that is damaged.
        files: the sound ones, by name.
        read: reads it; documents, if it holds any.
    """

    name: str
    files: dict[str, bytes]
    read: Callable[[Path], list[Document] | None]


def documents() -> list[Document]:
    """What all formats are given: nested, crossing and gapped mentions, concepts, scores, heads."""
    found = []
    for number, text in enumerate(TEXTS):
        mentions = [
            Mention("x", [(0, 4)], id="T1", concepts=("MESH:D1", "X:2"), score=0.5),
            Mention("y", [(0, 2), (5, 7)], id="T2"),
            Mention("x", [(3, 6)], id="T3", head=(3, 5)),
        ]
        kept = [mention for mention in mentions if mention.end <= len(text)]
        found.append(prepare(Document(text, id=f"d{number}", mentions=kept, meta={"note": number})))
    return found


def readers(folder: Path) -> dict[str, Reader]:
    """Every reader with sound files, written by Spanloom itself where it writes the format."""
    found: dict[str, Reader] = {}
    for name, kind in FORMATS.items():
        place = folder / f"{name}{kind.suffixes[0]}"
        if name == "brat":
            place = folder / "brat" / "d0.ann"
            write(documents()[:1], folder / "brat", format="brat")
        elif name == "i2b2":
            place = folder / "i2b2" / "d0.con"
            place.parent.mkdir()
            place.with_suffix(".txt").write_text("No chest pain , mild dyspnea .\n", encoding="utf-8")
            place.write_text(I2B2, encoding="utf-8")
        elif name == "store":
            with Store(place, write=True, create=True) as store:
                import_documents(store, documents())
        elif name == "webanno":
            place = place.with_stem("annotated")
            place.write_text(WEBANNO, encoding="utf-8")
        elif name == "markup":
            place = place.with_stem("marked")
            place.write_text(MARKUP, encoding="utf-8")
        else:
            write(documents()[:1] if name in ("xmi", "text") else documents(), place, format=name)
            if kind.texts_beside:
                write(documents(), place.with_suffix(".jsonl"))
        sound = {file.name: file.read_bytes() for file in place.parent.iterdir() if file.stem == place.stem}
        found[name] = Reader(place.name, sound, partial(_documents, name))
    for name, text in VOCABULARIES.items():
        file = "MRCONSO.RRF" if name == "rrf" else "v.txt"
        found[f"vocabulary {name}"] = Reader(file, {file: text.encode()}, partial(_vocabulary, name))
    model = folder / "lm.arpa"
    LanguageModel.train(documents()).write_arpa(model)
    others: dict[str, Callable[[Path], object]] = {
        "sections": read_rules, "templates": lambda path: FeatureSet(path.read_text(errors="replace")),
        "clusters": read_paths, "arpa": read_arpa,
    }  # fmt: skip
    for name, text in OTHERS.items():
        data = model.read_bytes() if name == "arpa" else text.encode()
        found[name] = Reader(f"{name}.txt", {f"{name}.txt": data}, partial(_nothing, others[name]))
    return found


def _documents(name: str, path: Path) -> list[Document]:
    options = {"texts": path.with_suffix(".jsonl")} if FORMATS[name].texts_beside else {}
    problems = list(validate(path, format=name, **options))
    found = list(read(path, format=name, notice=lambda _: None, **options))
    if any(problem.severity == "error" for problem in problems):
        raise AssertionError("validate lists an error, but read takes the file")
    return found


def _vocabulary(name: str, path: Path) -> None:
    assert name in SCANNERS
    list(read_vocabulary(path.parent if name == "rrf" else path, name))


def _nothing(reader: Callable[[Path], object], path: Path) -> None:
    reader(path)


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Each case is one damaged file of each kind."""
    record = Record("readers", seed)
    (folder / "sound").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = readers(folder / "sound")
        _check_sound(known, folder / "case")
        for case in cases:
            for name, reader in known.items():
                _one(record, reader, name, case, seed, folder / "case")
    return record


def _check_sound(known: dict[str, Reader], place: Path) -> None:
    """Raise what a reader says of a file that nothing happened to: such a case would show nothing."""
    for reader in known.values():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file, data in reader.files.items():
            (place / file).write_bytes(data)
        reader.read(place / reader.name)


def _one(record: Record, reader: Reader, name: str, case: int, seed: int, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    draw = generator(f"readers {name}", seed, case)
    for file, data in reader.files.items():
        if file == reader.name or draw.random() < 0.2:
            inside = damaged_inside(name, data, draw) if name in INSIDE and draw.random() < 0.7 else None
            data = inside or damaged(data, draw)
        (place / file).write_bytes(data)
    began = process_time()
    try:
        with changes() as written:
            found = reader.read(place / reader.name)
        outcome, said = "read", ""
    except SpanloomError as error:
        found, outcome, said = None, "refused", str(error)
    except Exception:
        record.fail(name, "foreign exception", case, traceback.format_exc().strip().splitlines()[-1][:200])
        return
    if written:
        record.fail(name, "wrote", case, "; ".join(written)[:300])
    if process_time() - began > SLOW:
        record.fail(name, "slow", case, f"{process_time() - began:.0f} s")
    if "\n" in said or "\r" in said or len(said) > 2 * LONGEST + 200:
        record.fail(name, "message", case, repr(said[:100]))
        return
    record.add(name, outcome)
    if found and draw.random() < 0.15:
        for problem in _again(found, draw.choice(WRITTEN), place):
            record.fail(name, "written again", case, problem)


def _again(found: list[Document], name: str, place: Path) -> Iterator[str]:
    """What is wrong with documents that are written in another format and read from it."""
    out = place / ("out" if name == "brat" else f"out{FORMATS[name].suffixes[0]}")
    try:
        losses = write(found, out, format=name)
        options = {"texts": place / "texts.jsonl"} if FORMATS[name].texts_beside else {}
        if options:
            write(found, options["texts"], force=True)
    except SpanloomError:
        return
    except Exception:
        yield f"{name}: {traceback.format_exc().strip().splitlines()[-1][:200]}"
        return
    try:
        again = list(read(out, format=name, notice=lambda _: None, **options))
    except SpanloomError as error:
        yield f"{name}: its own reader refuses it: {str(error)[:200]}"
        return
    before, after = (sum(len(document.mentions) for document in some) for some in (found, again))
    if after < before and not losses:
        yield f"{name}: {before - after} of {before} mentions lost without a word"
