"""How methods look, the same in the figures and on the page."""

from itertools import cycle
from typing import NamedTuple

from .methods import Method

_COLORS = {
    "spdpeg": "#d43d2f",
    "spdpeg-sc1": "#d43d2f",
    "spdpeg-sc2": "#f08c1d",
    "vr-spdpeg": "#8a5cf0",
    "auto": "#1f2430",
    "egadm": "#85898f",
    "sgadm": "#2f7fd6",
    "sadmm": "#14a3a3",
    "opg-admm": "#3ba54f",
    "rda-admm": "#b09a00",
    "sadmm-diag": "#cc5fa6",
    "sadmm-full": "#96613d",
}
_DASHES = {"default": "dash", "tuned": "dot"}


class Look(NamedTuple):
    """Colour and dash of a line, in Plotly's words."""

    color: str
    dash: str


def looks(methods: dict[str, Method]) -> dict[str, Look]:
    """One for each method; solvers outside the paper take the colours that are left."""
    free = cycle([color for name, color in _COLORS.items() if name not in methods] or list(_COLORS.values()))
    found = {}
    for name in methods:
        base, _, variant = name.rpartition("-")
        if variant in _DASHES and base in _COLORS:
            found[name] = Look(_COLORS[base], _DASHES[variant])
        else:
            found[name] = Look(_COLORS[name] if name in _COLORS else next(free), "solid")
    return found
