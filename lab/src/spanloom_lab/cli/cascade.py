"""`spanloom lab cascade`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from spanloom.cli.train import train
from spanloom_lab.cascade_parameters import Order


def run(order: Sequence[str] | None = None, **flags: Any) -> int | None:
    """Train and save a cascade."""
    return train("cascade", order=order_of(order), **flags)


def order_of(given: Sequence[str] | None) -> str | Sequence[str] | None:
    """Return the parameter ``order``: one name of `Order` alone, or the names of all types.

    >>> order_of(["search"]), order_of(["body", "drug"])
    ('search', ['body', 'drug'])
    """
    return given[0] if given and len(given) == 1 and given[0] in get_args(Order) else given
