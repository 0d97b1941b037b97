"""The names that parameters of estimators may have, as type checkers and editors see them.

A table, such as `spanloom.structures.STRUCTURES`, gives the meaning of each name; a test compares the two.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from spanloom.structure_names import StructureName as StructureName

Preset: TypeAlias = Literal["ace", "genia", "conll", "biomedical", "clinical", "small", "best", "fast"]
Attributes: TypeAlias = Literal["auto", "off"]
Completeness: TypeAlias = Literal["complete", "at-least", "unknown"]
Counting: TypeAlias = Literal["derivations", "subgraphs"]
Optimizer: TypeAlias = Literal["adagrad", "lbfgs"]
ExecutorName: TypeAlias = Literal["threads", "processes", "ray", "spark"]
Reading: TypeAlias = Literal["enough", "all"]
Headless: TypeAlias = Literal["error", "whole"]
Overlap: TypeAlias = Literal["learned", "free", "nested", "none"]
Passes: TypeAlias = Literal["auto", "one", "two"]
Pooling: TypeAlias = Literal["first", "last", "mean"]
Device: TypeAlias = Literal["auto", "cpu", "cuda"]
Precision: TypeAlias = Literal["auto", "float32", "bfloat16"]
Task: TypeAlias = Literal["joint", "recognize", "normalize"]
WhichMentions: TypeAlias = Literal["find", "given"]
SearchMethod: TypeAlias = Literal["best", "trigram", "edit"]
SegmentMethod: TypeAlias = Literal["independent", "incremental", "joint_labels", "dual", "exact"]
CharacterSet: TypeAlias = Literal["set1", "set2", "set3"]
