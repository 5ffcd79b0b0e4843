"""Tasks that the workers of a cluster run on a partition; plain functions, sent by name.

A partition is a `Resident`: its rows and the loss. The loss travels as an object and becomes compiled code on the
worker, since addresses mean nothing in another process. What stays with the rows is wrapped in `Kept`.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data import Block
from ..data.blocks import pick
from ..kernels.jit import frozen
from ..kernels.rows import Rows
from ..losses import Loss
from .base import Evaluation, Sweep
from .collapse import cheaper, collapsed_rows
from .local import LocalSums
from .moments import Moments
from .threads import one_blas_thread


class Summand(NamedTuple):
    """The contribution of a partition to sums over all rows."""

    sums: tuple[Any, ...]
    """Numbers and arrays that are added up; None where there is nothing."""
    largest: np.ndarray
    """Numbers of which the largest is wanted."""


class Resident:
    """Rows of a partition with labels and weights, for a loss."""

    def __init__(self, block: Block, loss: Loss) -> None:
        self.block, self.loss = readable(block), loss
        self.sums = LocalSums.of(self.block, loss)

    def __reduce__(self) -> tuple[Any, ...]:
        return Resident, (self.block, self.loss)

    def __sizeof__(self) -> int:
        return _bytes(self.block)


class Kept:
    """Something that stays with the rows, of a size that the scheduler can see."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return _bytes(self.value)


def readable(block: Block) -> Block:
    """The block with read-only arrays, as kernels are compiled for; from another process they come writable."""
    values, indices, indptr, width, bias = block.rows
    rows = Rows(frozen(values), frozen(indices), frozen(indptr), width, bias)
    return Block(rows, frozen(block.labels), frozen(block.weights))


def run(resident: Resident, *kept: Kept, task: Callable[..., Any], request: tuple[Any, ...]) -> Any:
    """A task below, on rows and on what stays with them, with one thread for linear algebra."""
    with one_blas_thread():
        return task(resident, *map(_own, request), *(_own(one.value) for one in kept))


def only(value: Any) -> Any:
    """Its argument; computed rather than sent, so that it can be recomputed when a worker is lost."""
    return value


def add(summands: list[Summand]) -> Summand:
    """Sums in the order in which they are given."""
    first, *others = summands
    sums, largest = first
    for other in others:
        sums = tuple(None if a is None else a + b for a, b in zip(sums, other.sums, strict=True))
        largest = np.maximum(largest, other.largest)
    return Summand(sums, largest)


# ------------------------------------------------------------------------------------ tasks whose outcome stays there


def at(resident: Resident, x: np.ndarray, curvature: bool, floor: float) -> Kept:
    """Sums at x."""
    return Kept(resident.sums.at(x, curvature=curvature, floor=floor))


def ahead(resident: Resident, x: np.ndarray, curvature: bool, floor: float, point: np.ndarray, model: Sweep) -> Kept:
    """Sums at x, and slopes that a model predicts for a point."""
    return Kept(resident.sums.at(x, curvature=curvature, floor=floor, model=model, ahead=point))


def at_margins(resident: Resident, curvature: bool, floor: float, field: str, margins: Any) -> Kept:
    """Sums at known margins."""
    return Kept(resident.sums.at_margins(_field(margins, field), curvature=curvature, floor=floor))


def between(resident: Resident, length: float, floor: float, start: Sweep, end: Sweep) -> Kept:
    """Sums between two points."""
    return Kept(resident.sums.between(start, end, length, floor))


def evaluate(resident: Resident, x: np.ndarray) -> Kept:
    """Loss and gradient in two parts."""
    return Kept(resident.sums.evaluate(x))


def evaluate_from(resident: Resident, x: np.ndarray, shift: float, field: str, margins: Any) -> Kept:
    """The same at known margins."""
    return Kept(resident.sums.evaluate(x, _field(margins, field), shift))


def slopes(resident: Resident, shift: float, up: float, down: float, field: str, margins: Any) -> Kept:
    """Slopes at margins."""
    return Kept(resident.sums.slopes(_field(margins, field), shift, up, down))


def scaled(resident: Resident, up: float, down: float, field: str, u: Any) -> Kept:
    """Slopes times factors."""
    return Kept(resident.sums.scaled(_field(u, field), up, down))


def zeros(resident: Resident) -> Kept:
    """Margins of x = 0."""
    return Kept(np.zeros(resident.sums.n_rows))


def collapse(resident: Resident, labels: np.ndarray, count: int) -> Resident:
    """Rows with columns added up."""
    return Resident(collapsed(resident.block, labels, count), resident.loss)


def collapsed(block: Block, labels: np.ndarray, count: int) -> Block:
    """The block with columns added up over pieces."""
    pieces = count - (block.rows.bias != 0.0)
    rows = collapsed_rows(block.rows, labels[: block.rows.width].astype(np.int64), pieces)
    [rows] = cheaper([rows], block.labels.size, pieces)
    return block._replace(rows=rows)


# --------------------------------------------------------------------------------------- what of it goes to the driver


def sums_of_sweep(kept: Kept, resident: Resident, n_rows: int, with_rows: bool) -> Summand:
    """The sums of a sweep. Predicted slopes come with the sums that a bound needs, `with_rows` adds `rows_alone`."""
    sweep: Sweep = kept.value
    fraction = sweep.margins.size / n_rows
    sums = fraction * sweep.loss, fraction * sweep.gradient, _times(fraction, sweep.curvature)
    of_predicted: tuple[Any, ...] = (None, None, None)
    if sweep.predicted is not None:
        u = _own(sweep.predicted)
        of_slopes = sweep.predicted_gradient, resident.sums.mean_square(u), resident.sums.conjugate(u, 1.0)
        of_predicted = tuple(fraction * value for value in of_slopes)
    least, largest = sweep.curvature_range
    found = Summand((*sums, *of_predicted), np.array([-least, largest]))
    if not with_rows:
        return found
    others = rows_alone(resident, n_rows)
    return Summand((*found.sums, *others.sums), np.concatenate((found.largest, others.largest)))


def sums_of_evaluation(kept: Kept, n_rows: int) -> Summand:
    """The sums of an evaluation: loss, gradient, and the gradient's positive part."""
    found: Evaluation = kept.value
    assert found.positive_part is not None
    fraction = found.margins.size / n_rows
    parts = fraction * found.loss, fraction * found.gradient, fraction * found.positive_part
    return Summand(parts, np.zeros(0))


# ------------------------------------------------------------------------------------------ tasks that return summands


def losses_between(resident: Resident, n_rows: int, lengths: np.ndarray, start: Sweep, end: Sweep) -> Summand:
    """Mean losses at parts of a way."""
    return _mean(resident, n_rows, resident.sums.losses_between(start, end, lengths))


def loss(resident: Resident, n_rows: int, x: np.ndarray) -> Summand:
    """Mean loss."""
    return _mean(resident, n_rows, resident.sums.loss(x))


def adjoint(resident: Resident, n_rows: int, field: str, u: Any) -> Summand:
    """A^T W u / N."""
    return _mean(resident, n_rows, resident.sums.adjoint(_field(u, field)))


def mean_square(resident: Resident, n_rows: int, field: str, u: Any) -> Summand:
    """Mean of w u^2."""
    return _mean(resident, n_rows, resident.sums.mean_square(_field(u, field)))


def mean_slopes(resident: Resident, n_rows: int, shifts: np.ndarray, field: str, margins: Any) -> Summand:
    """Means of slopes."""
    return _mean(resident, n_rows, resident.sums.mean_slopes(_field(margins, field), shifts))


def conjugate(resident: Resident, n_rows: int, scale: float, field: str, u: Any) -> Summand:
    """Mean of w phi*(scale u)."""
    return _mean(resident, n_rows, resident.sums.conjugate(_field(u, field), scale))


def conjugate_at(
    resident: Resident, n_rows: int, shift: float, up: float, down: float, field: str, margins: Any
) -> Summand:
    """The same at margins."""
    return _mean(resident, n_rows, resident.sums.conjugate_at(_field(margins, field), shift, up, down))


def rows_alone(resident: Resident, n_rows: int) -> Summand:
    """Sizes of rows and columns."""
    sums = resident.sums
    largest, square, noise, _ = sums.statistics()
    return _mean(resident, n_rows, square, noise, sums.column_squares())._replace(largest=np.array([largest]))


def moments(resident: Resident, place: np.ndarray) -> Summand:
    """Second moments about a place."""
    return Summand((Moments.of(resident.block, place),), np.zeros(0))


def sample(resident: Resident, n_rows: int, wanted: int) -> Block:
    """Some rows from all over the partition, at least one."""
    here = resident.sums.n_rows
    return pick(resident.block, np.arange(0, here, min(here, max(1, n_rows // wanted))))


def _mean(resident: Resident, n_rows: int, *values: Any) -> Summand:
    fraction = resident.sums.n_rows / n_rows
    return Summand(tuple(fraction * value for value in values), np.zeros(0))


def _field(value: Any, field: str) -> Any:
    """The vector that a token means: a field of what stays with the rows, or all of it."""
    return getattr(value, field) if field else value


def _times(fraction: float, array: np.ndarray | None) -> np.ndarray | None:
    return None if array is None else fraction * array


def _own(value: Any) -> Any:
    """The argument with writable vectors, as kernels are compiled for; from other processes they come read-only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_own, value))
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(_own(getattr(value, field.name)) for field in fields(value)))
    return value


def _bytes(value: Any) -> int:
    """Memory of all arrays in a record."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple):
        return sum(map(_bytes, value))
    if is_dataclass(value) and not isinstance(value, type):
        return sum(_bytes(getattr(value, field.name)) for field in fields(value))
    return 0
