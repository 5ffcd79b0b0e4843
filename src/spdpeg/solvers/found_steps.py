"""SPDPEG's default mode: steps, metric and centre found from the rows as they come, and what a stream shows.

docs/spdpeg.md describes it, `schemes/adaptive.py` takes the steps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data import Block
from ..data.blocks import pick
from ..kernels.terms import Terms
from ..schemes import adaptive
from ..schemes import learned as places
from ..schemes.records import gather
from ..state import State
from ..sums.local import LocalSums
from ..view import View
from . import sharpening
from .column_metric import about_mean, column_metric, dual_factors

_FROM_ZERO, _FROM_A_FIT = 2.0, 0.02
"""How far the first step goes, in safe steps: a start that the user chose is kept."""

_ENOUGH_ROWS = 32
"""Rows that are enough to say which of two points is better, and how far an average has gone too far."""

_ENOUGH_UNUSED = 16
"""The same for rows that have not been used."""

_NOWHERE = -1.0
"""In the place of a length: the start was better than where any step led."""

_BEYOND = 1.25
"""The average has not gone far enough where its loss is above this many times that of a point beyond it."""

_OUTLYING, _OUTLYING_AGAIN = 9.0, 25.0
"""A row whose square is this many times the typical one is an outlier: it moves its own prediction as far as one of
that size would, and is not judged by its loss. Rows that come again and again are spared: it would shift the solution.
"""

_FIRST_CENTRE, _FIRST_METRIC = 32, 256
"""Rows after which they are measured from their mean, and after which steps of coordinates may differ; both are found
again whenever there are twice as many."""


@dataclass(frozen=True)
class FoundSteps:
    """One-sample or two-sample extragradient steps whose lengths are found from the rows."""

    scale: float
    rho: float | None
    two_samples: bool
    forgetting: float
    """Iterate k weighs like k^forgetting in the averages."""
    slope: float
    shift: float
    """Steps are at most 1 / (slope (k + shift))."""

    def vectors(self, problem: View, x0: np.ndarray) -> dict[str, np.ndarray]:
        """What is kept beside the vectors of every extragradient step."""
        learned = np.zeros(places.LEARNED)
        learned[places.BRAKE], learned[places.BIAS] = 1.0, problem.rows.bias
        learned[places.OUTLYING] = _OUTLYING if problem.rows.n_samples is None else _OUTLYING_AGAIN
        vectors = {"start": x0.copy(), "learned": learned, "metric": np.ones_like(x0)}
        vectors |= {name: np.zeros_like(x0) for name in ("gradient", "gradient_average")}
        columns = ("column_squares", "column_counts", "column_sums", "column_lost")
        vectors |= {name: np.zeros(problem.rows.n_features) for name in columns}
        vectors |= {name: np.zeros(x0.size if problem.rows.bias else 0) for name in ("centre", "pull")}
        square = problem.F.squared_norm
        vectors["dual_factors"] = np.full(problem.F.n_outputs, 1.0 / square if square > 0.0 else 1.0)
        return vectors

    # --------------------------------------------------------------------------------------------------- steps

    def advance(self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int) -> None:
        """Take the steps, and stop to measure the columns whenever there are twice as many rows."""
        per_step, done = order.size // steps, 0
        course = self._course(problem, state.vectors["start"])
        while done < steps:
            first = state.steps + done
            due = self._due(state, first)
            if due == first:
                self._measure_columns(problem, state, first * self._rows_per_step(state))
                due = self._due(state, first + 1)
            many = min(steps - done, due - first)
            adaptive.adaptive_extragradient(
                block,
                order[done * per_step : (done + many) * per_step],
                per_step // (2 if self.two_samples else 1),
                first,
                many,
                course,
                self._in_metric(problem, terms, state),
                problem.loss.value_term,
                gather(adaptive.Work, state.vectors),
            )
            done += many

    def _rows_per_step(self, state: State) -> int:
        return state.batch_size * (2 if self.two_samples else 1)

    def _due(self, state: State, step: int) -> int:
        """The next step before which columns are measured again, by the number of rows."""
        per_step, rows = self._rows_per_step(state), _FIRST_CENTRE
        while -(-rows // per_step) < step:
            rows *= 2
        return -(-rows // per_step)

    def _course(self, problem: View, start: np.ndarray) -> adaptive.Course:
        return adaptive.Course(
            problem.loss.curvature,
            problem.loss.bounded_slope,
            float(self.scale),
            float(self.rho or 0.0),
            problem.F.squared_norm,
            self.slope,
            self.shift,
            self.forgetting,
            self.two_samples,
            problem.rows.n_samples is None,
            _FROM_ZERO if not start.any() else _FROM_A_FIT,
        )

    def _in_metric(self, problem: View, terms: Terms, state: State) -> Terms:
        """The terms, r1 with a step for each coordinate."""
        metric = state.vectors["metric"]
        if np.ptp(metric) == 0.0:
            return terms
        scaled = problem.regularizer.scaled(metric)
        assert scaled is not None
        return terms._replace(prox1=scaled.prox_term(problem.n_coordinates))

    # ------------------------------------------------------------------------------------------------- columns

    def _measure_columns(self, problem: View, state: State, read: int) -> None:
        """Measure rows from their mean if there is an intercept, and let steps follow the columns if r1 allows it."""
        v = state.vectors
        learned, squares = v["learned"], v["column_squares"] + v["column_lost"]
        if learned[places.MEASURED] == 0.0:
            return
        before = np.sum((v["x"] - v["start"]) ** 2 / v["metric"])
        if problem.rows.bias:
            centre, squares = about_mean(
                v["column_sums"], v["column_squares"], v["column_lost"], learned[places.MEASURED]
            )
            self._move_centre(v, centre, squares)
        if read >= _FIRST_METRIC and self.rho is None:
            metric = np.ones_like(v["x"])
            metric[: squares.size] = column_metric(squares, v["column_counts"], learned[places.MEASURED])
            if problem.regularizer.scaled(metric) is not None:
                v["metric"], v["dual_factors"] = metric, dual_factors(problem, metric)
        v["pull"] = v["metric"][: v["centre"].size] * v["centre"]
        after = np.sum((v["x"] - v["start"]) ** 2 / v["metric"])
        if before > 0.0:
            learned[places.RADIUS] *= math.sqrt(after / before)
            learned[places.WEIGHT] *= after / before

    def _move_centre(self, v: dict[str, np.ndarray], centre: np.ndarray, squares: np.ndarray) -> None:
        """Same predictions with another centre, about which the columns have these squares: other intercepts."""
        learned, old, metric = v["learned"], v["centre"][:-1], v["metric"][:-1]
        shift = np.append(centre - old, 0.0)
        for name in ("x", "start", "x_average"):
            v[name][-1] += np.sum(shift * v[name]) / learned[places.BIAS]
        v["gradient_average"] -= shift * (v["gradient_average"][-1] / learned[places.BIAS])
        v["centre"] = np.append(centre, 0.0)
        before = np.sum(metric * (squares + learned[places.MEASURED] * shift[:-1] ** 2))
        after = np.sum(metric * squares)
        if after > 0.0:
            learned[places.LOG_SQUARE] += math.log(after / before)
            learned[places.WEIGHT] *= after / before

    def outside(self, problem: View, state: State, x: np.ndarray) -> np.ndarray:
        """A copy of x in the problem's units: inside, the intercept is the prediction at the centre of the rows."""
        v, outside = state.vectors, x.copy()
        if problem.rows.bias:
            outside[-1] = (v["learned"][places.BIAS] * x[-1] - np.sum(v["centre"] * x)) / problem.rows.bias
        return outside

    # ------------------------------------------------------------------------------------- what a stream shows

    def weigh(self, problem: View, state: State, rows: Block) -> None:
        """Find out on other rows how far to go in what is shown: used rows may favour too large a step."""
        v = state.vectors
        if v["learned"][places.COUNT] == 0.0:
            return
        adaptive.score_rows(rows, np.arange(rows.labels.size), problem.loss.value_term, gather(adaptive.Work, v))
        v["learned"][places.FRACTION] = self._fraction(state)
        rows = self._usual(state, rows)
        if rows.labels.size >= _ENOUGH_UNUSED:
            objective = self._objective(problem, state, rows)
            chosen = self._sharpened(problem, state, objective, rows, sharpening.LENGTHS)
            # A start that the user chose is left only for what other rows find better.
            stays = v["start"].any() and objective(v["start"]) < chosen.value
            v["learned"][places.LENGTH] = _NOWHERE if stays else chosen.length

    def polish(self, problem: View, state: State, rows: Block | None) -> None:
        """Show a point that is sparse and fused where the penalties make it so, and no worse than the start."""
        v = state.vectors
        learned = v["learned"]
        if learned[places.COUNT] == 0.0:
            return
        fraction = learned[places.FRACTION] or self._fraction(state)
        v["x_average"] = v["start"] + fraction * (v["x_average"] - v["start"])
        rows = rows if rows is None else self._usual(state, rows)
        if rows is not None and rows.labels.size >= _ENOUGH_ROWS and learned[places.LENGTH] != 0.0:
            shown = v["start"]
            if learned[places.LENGTH] != _NOWHERE:
                objective, lengths = self._objective(problem, state, rows), sharpening.LENGTHS
                few = lengths[lengths <= learned[places.LENGTH]]
                chosen = self._sharpened(problem, state, objective, rows, few)
                if not objective(shown) < chosen.value:
                    shown = chosen.x
            v["x_average"] = shown.copy()
        else:
            # Too few rows to choose a step by: one as long as the method's own does no harm.
            step = float(learned[places.STEP])
            v["x_average"] = sharpening.sharpened(problem, v["x_average"], v["gradient_average"], step)
        v["z_average"] = problem.F.forward(v["x_average"])

    def _usual(self, state: State, rows: Block) -> Block:
        """Those of the rows that are not outliers: points are not judged by single rows."""
        usual = np.empty(rows.labels.size, dtype=bool)
        adaptive.find_usual(rows, gather(adaptive.Work, state.vectors), usual)
        return rows if usual.all() else pick(rows, np.flatnonzero(usual))

    def _fraction(self, state: State) -> float:
        """The part of the way from the start to the average that was best on rows before they were used."""
        learned = state.vectors["learned"]
        if learned[places.SCORED] < _ENOUGH_ROWS:
            return 1.0
        scores = learned[places.SCORES :]
        best, good = int(np.argmin(scores)), np.flatnonzero(scores <= _BEYOND * scores.min())
        return float(places.FRACTIONS[max(best, min(places.WHOLE, good[-1]))])

    def _objective(self, problem: View, state: State, rows: Block) -> Callable[[np.ndarray], float]:
        """The objective on these rows."""
        loss = LocalSums.of(rows, problem.loss).loss
        return lambda x: loss(self.outside(problem, state, x)) + problem.penalty.value(x)

    def _sharpened(
        self,
        problem: View,
        state: State,
        objective: Callable[[np.ndarray], float],
        rows: Block,
        lengths: np.ndarray,
    ) -> sharpening.Choice:
        v, step = state.vectors, self._safe_step(problem, state)
        x, gradient, many = v["x_average"], v["gradient_average"], rows.labels.size
        return sharpening.best_length(problem, x, gradient, step, lengths, objective, many)

    def _safe_step(self, problem: View, state: State) -> float:
        """1 / L of the usual row."""
        learned = state.vectors["learned"]
        square = math.exp(learned[places.LOG_SQUARE]) + learned[places.BIAS] ** 2
        return 1.0 / (problem.loss.curvature * math.exp(learned[places.LOG_WEIGHT]) * square)
