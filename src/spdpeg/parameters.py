"""Objects whose constructor arguments are their attributes: shown by `repr`, read and changed by name."""

import inspect
from typing import Any

import numpy as np

from .errors import InputError


class Parameterized:
    """Gives losses, penalties, operators and solvers a faithful `repr`, `get_params` and `set_params`.

    The convention is scikit-learn's: every constructor argument is stored unchanged under its own name.
    """

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the constructor's arguments, in order."""
        signature = inspect.signature(cls.__init__)
        return [p.name for p in signature.parameters.values() if p.name != "self" and p.kind != p.VAR_KEYWORD]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments by name; with `deep`, also those of nested terms as `outer__inner`."""
        params = {name: getattr(self, name) for name in self.parameter_names()}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameterized):
                    params.update({f"{name}__{k}": v for k, v in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> "Parameterized":
        """Change constructor arguments by name and return the object itself."""
        known = self.parameter_names()
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            if outer not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {outer!r}. It takes: {', '.join(known) or 'none'}."
                )
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, outer, value)
        return self

    def __repr__(self) -> str:
        shown = []
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            if name == "self" or parameter.kind == parameter.VAR_KEYWORD:
                continue
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                shown.append(f"{name}=<array {value.shape}>")
            elif not (parameter.default is value or (np.isscalar(value) and parameter.default == value)):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"
