"""Kernel of the tokens that need no regular expression: runs of letters and digits, and single characters.

It takes the classes of characters and not the expressions themselves, so it knows where it need not look further: a
stretch without white space that holds nothing but letters, digits, and marks that stand by themselves has no other
tokens. Any other stretch is left to the expressions.
"""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel, kernel_only

HARD, SPACE, LETTER, DIGIT, SINGLE, MARK, STOP, COMMA = range(8)  # classes of characters


@kernel_only
def _class(codes, i, classes):
    """The class of a character; behind the text is white space."""
    if i >= len(codes):
        return SPACE
    return np.int64(classes[codes[i]]) if codes[i] < len(classes) else HARD


@kernel
def easy_tokens(codes, classes, tokens, hard):
    """Find the tokens of all stretches without white space that are easy, and the others.

    Hard is a stretch with a character of that class, a full stop that does not end it, a comma before a digit, a letter
    in a run that begins with a digit (``10mg``), or the same mark twice (``--``, ``://``).

    Args:
        codes: (C,) uint32, the characters.
        classes: uint8, the class of each; characters beyond are hard.
        tokens: (C, 2) int64, output: start and end of each token.
        hard: (C, 2) int64, output: start and end of what is left; neighbours are one.

    Returns:
        The number of tokens, and of what is left.
    """
    n = left = i = 0
    before = -1  # the tokens when the last hard stretch was found
    while i < len(codes):
        if _class(codes, i, classes) == SPACE:
            i += 1
            continue
        begin, kept, easy = i, n, True
        kind = _class(codes, i, classes)
        while kind != SPACE:
            start, first = i, kind
            i += 1
            kind = _class(codes, i, classes)
            if first in (LETTER, DIGIT):
                while kind in (LETTER, DIGIT):
                    easy &= first == LETTER or kind == DIGIT
                    i += 1
                    kind = _class(codes, i, classes)
            elif first == STOP:
                easy &= kind == SPACE
            elif first == COMMA:
                easy &= kind != DIGIT
            elif first != SINGLE:
                easy &= first == MARK and (i == len(codes) or codes[i] != codes[start])
            tokens[n, 0], tokens[n, 1] = start, i
            n += 1
        if not easy:
            n = kept
            if n != before:
                hard[left, 0] = begin
                left += 1
            hard[left - 1, 1] = i
            before = n
    return n, left
