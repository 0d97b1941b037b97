"""Kinds of JSON values: lists of values of some types, and pairs of offsets."""

from __future__ import annotations

from typing import Any, TypeGuard


def are(value: object, *types: type) -> TypeGuard[list[Any]]:
    """Return whether a value is a list of values of some types; true and false are no integers.

    >>> are(["a", "b"], str), are([], str), are([3, True], int), are("ab", str)
    (True, True, False, False)
    """
    if not isinstance(value, list):
        return False
    return all(issubclass(one, types) and (one is not bool or bool in types) for one in set(map(type, value)))


def some(value: object, *types: type) -> TypeGuard[list[Any]]:
    """Return whether a value is such a list, and not empty."""
    return bool(value) and are(value, *types)


def is_pair(value: object) -> TypeGuard[list[int]]:
    """Return whether a value is a list of two integers."""
    return are(value, int) and len(value) == 2


def are_pairs(value: object) -> TypeGuard[list[list[int]]]:
    """Return whether a value is a list of such pairs, and not empty."""
    return some(value, list) and all(map(is_pair, value))
