"""Reproduction of tables of the papers, and search: cascades, two layers, head rules, ambiguity, feature search."""

from typing import TYPE_CHECKING

from spanloom.lazy import lazily

if TYPE_CHECKING:
    from spanloom_lab.cascade import Cascade as Cascade
    from spanloom_lab.cascade import CascadeReport as CascadeReport
    from spanloom_lab.head_chain import HeadChain as HeadChain
    from spanloom_lab.head_rules import HEAD_RULES as HEAD_RULES
    from spanloom_lab.head_rules import give_heads as give_heads
    from spanloom_lab.reading_back import ReadBack as ReadBack
    from spanloom_lab.reading_back import read_back as read_back
    from spanloom_lab.two_layer import TwoLayer as TwoLayer

__all__ = ["HEAD_RULES", "Cascade", "CascadeReport", "HeadChain", "ReadBack", "TwoLayer", "give_heads", "read_back"]

if not TYPE_CHECKING:  # the help of the command line needs none of it
    __getattr__ = lazily(
        __name__,
        {
            "Cascade": "spanloom_lab.cascade",
            "CascadeReport": "spanloom_lab.cascade",
            "HEAD_RULES": "spanloom_lab.head_rules",
            "HeadChain": "spanloom_lab.head_chain",
            "ReadBack": "spanloom_lab.reading_back",
            "TwoLayer": "spanloom_lab.two_layer",
            "give_heads": "spanloom_lab.head_rules",
            "read_back": "spanloom_lab.reading_back",
        },
    )
