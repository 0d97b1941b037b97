"""The parameters of an estimator, as scikit-learn asks for them."""

from __future__ import annotations

import inspect
from typing import Any, Self

from spanloom.errors import UsageError


class Parameters:
    """A class whose constructor keeps each argument under its own name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {
            name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"
        }

    def set_params(self, **params: Any) -> Self:
        """Change parameters.

        Raises:
            UsageError: a name that the constructor does not know.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"no parameter {name!r}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self
