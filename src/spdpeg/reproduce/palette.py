"""How methods look, in the figures and on the page: a colour and a marker for the solver, a dash for the setting.

The colours keep apart for the colour-blind too (a test simulates that), and no two solvers share a marker.
"""

from itertools import cycle
from typing import NamedTuple

from .methods import AUTHORS, DEFAULT, ONE_TUNED, PRINTED, TUNED, Method

_SOLVERS = {
    "spdpeg": ("#822167", "circle"),
    "spdpeg-sc1": ("#822167", "circle"),
    "spdpeg-sc2": ("#b84a66", "square"),
    "egadm": ("#ba814a", "x"),
    "sgadm": ("#332288", "diamond"),
    "sadmm": ("#9ac9c1", "triangle-up"),
    "opg-admm": ("#6d3a06", "triangle-down"),
    "rda-admm": ("#dd7b00", "star"),
    "sadmm-diag": ("#009ab2", "pentagon"),
    "sadmm-full": ("#ddcc66", "hexagon"),
    "vr-spdpeg": ("#759bff", "cross"),
    "auto": ("#305cdd", "triangle-left"),
}
_DASHES = {PRINTED: "solid", TUNED: "dash", ONE_TUNED: "dashdot", AUTHORS: "dot", DEFAULT: "longdash"}


class Look(NamedTuple):
    """Colour, dash and marker of a line, in Plotly's words."""

    color: str
    dash: str
    marker: str


def looks(methods: dict[str, Method]) -> dict[str, Look]:
    """The style of each method's curve; solvers outside the paper take the styles that are left."""
    used = {_SOLVERS[method.solver] for method in methods.values() if method.solver in _SOLVERS}
    every = dict.fromkeys(_SOLVERS.values())
    free = cycle([look for look in every if look not in used] or list(every))
    return {name: Look(*_of(method, free)) for name, method in methods.items()}


def _of(method: Method, free: "cycle[tuple[str, str]]") -> tuple[str, str, str]:
    color, marker = _SOLVERS[method.solver] if method.solver in _SOLVERS else next(free)
    # Only SPDPEG has settings beside the tuned one that need the solid line.
    plain = (method.family == "rival" and method.setting == TUNED) or method.family == "beside"
    return color, "solid" if plain else _DASHES[method.setting], marker
