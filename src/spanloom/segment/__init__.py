"""Words and mentions of text without spaces: two chains over characters that come together."""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
