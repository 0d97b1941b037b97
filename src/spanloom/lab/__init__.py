"""Reproduction of tables of the papers, and search: head rules and chains, ambiguity, comparisons, feature search."""

from spanloom.lab.head_chain import HeadChain
from spanloom.lab.head_rules import HEAD_RULES, give_heads
from spanloom.lab.read_back import ReadBack, read_back

__all__ = ["HEAD_RULES", "HeadChain", "ReadBack", "give_heads", "read_back"]
