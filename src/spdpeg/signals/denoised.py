"""The result of `denoise`."""

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from .. import pages, plots
from ..certificate import Certificate
from ..errors import UnsupportedError
from ..operators.pieces import segments
from . import solution
from .choose import Choice
from .fit import Fit
from .signal import Signal


class Denoised:
    """A signal, image or graph without its noise. Made by `spdpeg.denoise`.

    Attributes
    ----------
    x : array
        The solution, of the shape of y.
    lam1, lam2
        The weights.
    objective : float
        1/2 sum w (x - y)^2 + lam1 |x|_1 + lam2 |F x|_1 at x.
    certificate : Certificate
        How far that is from the optimum, with proof.
    dual : array
        The multipliers of F x that prove it.
    choice : Choice or None
        How lam2 was chosen, if it was.
    """

    def __init__(self, signal: Signal, found: Fit, lam2: Any, choice: Choice | None, dtype: np.dtype[Any]) -> None:
        self._signal, self._fit = signal, found
        self.x = found.x.reshape(signal.shape).astype(dtype, copy=False)
        self.lam1, self.lam2 = signal.l1, lam2
        self.objective = found.certificate.primal
        self.certificate: Certificate = found.certificate
        self.dual = found.dual
        self.choice = choice

    @cached_property
    def y(self) -> np.ndarray:
        """The signal as given; NaN where a value is missing."""
        return np.where(self._signal.observed, self._signal.y, np.nan).reshape(self._signal.shape)

    @cached_property
    def labels(self) -> np.ndarray:
        """The number of the piece that each value belongs to, from 0, in an array of the shape of y."""
        found = solution.labels(self._signal, self._fit, self.lam2)
        if found is None:
            raise UnsupportedError("F is no matrix of differences between values, so there are no pieces. Look at x.")
        return found.reshape(self._signal.shape)

    @cached_property
    def n_pieces(self) -> int:
        """Number of pieces: segments of a signal, connected regions of equal values of an image or a graph."""
        return int(self.labels.max()) + 1

    @cached_property
    def segments(self) -> list[Any]:
        """The pieces: `Segment` (start, stop, value) along a line, `Region` (members, value) elsewhere.

        For trends of order 2 and more a segment reaches from knot to knot, and its value is the mean of the curve.
        """
        return segments(self.labels.reshape(-1), self._fit.x, self._signal.order is not None)

    @cached_property
    def df(self) -> int | float:
        """Degrees of freedom: pieces that are not 0, for order 1; knots plus order, for trends.

        In general the dimension of all v with (F v)_j = 0 where (F x)_j = 0 and v_i = 0 where lam1 makes x_i = 0: an
        unbiased estimate for Gaussian noise (Tibshirani and Taylor, 2012). With isotropic=True pieces count for less
        than one, by the trace of the hat matrix (Vaiter and others, 2017), estimated for more than 1000 pieces.
        """
        return solution.degrees(self._signal, self._fit, self.lam2)

    def plot(self) -> Any:
        """Draw y and x: points and steps, two images, the middle slices of two volumes. Needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return plots.denoised(self)

    @property
    def line(self) -> int | None:
        """The order of the differences, for values along a line; None for images and graphs."""
        return self._signal.order

    def report(self, path: Any, name: str = "Signal") -> None:
        """Write a page: what was given, the solution, its segments, and the certificate in words.

        It is one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
        name : str, default="Signal"
            What the values are called.
        """
        pages.signal.publish(self, path, name)

    def _repr_html_(self) -> str:
        return pages.notebook.card(str(self.certificate), {"solution": repr(self)})

    def __repr__(self) -> str:
        what = " x ".join(map(str, self._signal.shape)) + (" values" if len(self._signal.shape) == 1 else "")
        missing = int(np.count_nonzero(~self._signal.observed))
        parts = [what + (f", {missing} missing" if missing else "")]
        if self._signal.groups is None:
            parts.append(f"df={self.df}")
        if self._signal.order == 1 or (self._signal.order is None and self._signal.groups is None):
            with suppress(UnsupportedError):
                parts.insert(1, f"{self.n_pieces} pieces")
        lam2 = f"{self.lam2:.4g}" if np.ndim(self.lam2) == 0 else "..."
        how = f" by {self.choice.criterion}" if self.choice is not None else ""
        parts += [f"lam2={lam2}{how}", f"lam1={self.lam1:.4g}", f"objective={self.objective:.6g}"]
        return f"Denoised({', '.join(parts)}: {self.certificate})"
