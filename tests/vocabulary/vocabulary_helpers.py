"""The same three concepts, which the tests write in every format that can say them."""

from __future__ import annotations

from spanloom.vocabulary import Concept

INFARCTION = Concept(
    "MESH:D009203",
    "Myocardial Infarction",
    ("Heart Attack", "Infarct, Myocardial"),
    ("DOID:5844", "OMIM:608446"),
    ("MESH:D017202",),
    'NECROSIS of the "MYOCARDIUM", often.',
    "Cardiovascular disease",
)
ISCHEMIA = Concept("MESH:D017202", "Myocardial Ischemia", parents=("MESH:C",))
SJOGREN = Concept("MESH:D012859", "Sjögren's Syndrome", ("Sicca Syndrome",))
CONCEPTS = [INFARCTION, ISCHEMIA, SJOGREN]
