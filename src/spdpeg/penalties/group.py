"""The l2 norms of groups of coordinates."""

from numbers import Integral
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import jit
from ..kernels.jit import inner
from .base import Groups, Packed, Penalty
from .conic import ConicForm, norms
from .shared import in_dual_domain, interval_scale, weights_of

_SAFE = 1e300
"""Squares between 1 / _SAFE and _SAFE lost nothing to overflow or underflow."""


@inner
def _norm(point: np.ndarray, members: np.ndarray) -> float:
    """The Euclidean norm of the members of a group; entries of extreme size take the slow road."""
    square = 0.0
    for k in range(members.size):
        square += point[members[k]] * point[members[k]]
    if 1.0 / _SAFE < square < _SAFE:
        return np.sqrt(square)
    largest = 0.0
    for k in range(members.size):
        largest = max(largest, abs(point[members[k]]))
    if largest == 0.0:
        return 0.0
    square = 0.0
    for k in range(members.size):
        square += (point[members[k]] / largest) ** 2
    return largest * np.sqrt(square)


class GroupL2(Penalty):
    """Sum over groups g of weight_g |v_g|_2: the entries of a group vanish together.

    Parameters
    ----------
    weight : float or array
        One number or one per group; 0 leaves a group free.
    groups : int, array of int, list of index lists, or None
        A block size (consecutive blocks of that length), one group label per coordinate (a negative label means no
        group; weights go by increasing label), or the coordinates of each group. Groups do not overlap; coordinates in
        no group are free. None makes one group of all. Labels are the quickest form for many groups.

    See Also
    --------
    L1 : Groups of one.
    SeparableSum : Different penalties for parts of a vector.

    Examples
    --------
    >>> from spdpeg import penalties
    >>> penalties.GroupL2(2.5, groups=2).prox([3.0, 4.0, 1.0, 1.0]).tolist()
    [1.5, 2.0, 0.0, 0.0]
    >>> penalties.GroupL2([2.5, 0.0], groups=[[0, 2], [1]]).prox([3.0, 7.0, 4.0, 8.0]).tolist()
    [1.5, 7.0, 2.0, 8.0]
    """

    homogeneous = True

    def __init__(self, weight: Any = 1.0, groups: Any = None) -> None:
        self.weight = weight
        self.groups = groups

    def value(self, v: np.ndarray) -> float:
        return float(np.sum(np.asarray(self.weight) * self._norms(v)[:-1]))

    def conjugate(self, u: np.ndarray) -> float:
        norms = self._norms(u)
        limits = self._limits(norms.size - 1)
        return 0.0 if in_dual_domain(norms, -limits, limits) else np.inf

    def nearest_dual(self, u: np.ndarray) -> np.ndarray:
        return np.where(self.free(u.size), 0.0, u)

    def dual_scale(self, u: np.ndarray) -> float:
        norms = self._norms(u)
        limits = self._limits(norms.size - 1)
        return interval_scale(norms, -limits, limits)

    def free(self, size: int) -> np.ndarray:
        labels, count = self._labels(size)
        return self._limits(count)[labels] == 0.0

    def group_lengths(self, size: int) -> Groups:
        labels, count = self._labels(size)
        return Groups(np.where(labels == count, -1, labels), np.asarray(self.weight, dtype=float))

    def pack(self, size: int) -> Packed:
        labels, count = self._labels(size)
        weight = np.broadcast_to(weights_of(self, "weight", self.weight, count, "groups"), (count,))
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=count + 1))])
        return Packed(np.append(weight, 0.0), np.concatenate([starts, np.argsort(labels, kind="stable")]))

    def conic_form(self, size: int) -> ConicForm:
        reals, ints = self.pack(size)
        starts, order = ints[: reals.size + 1], ints[reals.size + 1 :]
        return norms(np.split(order, starts[1:-1]), reals, size)

    def _limits(self, count: int) -> np.ndarray:
        """Weight of each group, and 0 for what belongs to none."""
        return np.append(np.broadcast_to(np.asarray(self.weight, dtype=float), (count,)), 0.0)

    def _norms(self, v: np.ndarray) -> np.ndarray:
        labels, count = self._labels(v.size)
        scale = max(float(np.max(np.abs(v), initial=0.0)), np.finfo(float).tiny)
        return scale * np.sqrt(np.bincount(labels, np.square(v / scale), minlength=count + 1))

    _known: tuple[Any, int, tuple[np.ndarray, int]] = (None, 0, (np.zeros(0, dtype=np.int64), 0))
    """What lists of groups were last read as: to read thousands of them takes longer than a step."""

    def _labels(self, size: int) -> tuple[np.ndarray, int]:
        """The group of each coordinate and the number of groups; free coordinates form one more, of weight 0."""
        groups, known, labels = self._known
        if groups is None or groups is not self.groups or known != size:
            labels = self._read_labels(size)
            self._known = self.groups, size, labels
        return labels

    def _read_labels(self, size: int) -> tuple[np.ndarray, int]:
        if self.groups is None:
            return np.zeros(size, dtype=np.int64), 1
        if isinstance(self.groups, Integral):
            return self._from_block_size(int(self.groups), size)
        try:
            labels = np.asarray(self.groups)
        except Exception:  # lists of different lengths, or a foreign object
            labels = np.empty((0, 0))
        if labels.ndim == 1 and labels.dtype.kind in "iu":
            return self._from_labels(labels, size)
        return self._from_lists(size)

    def _from_block_size(self, block: int, size: int) -> tuple[np.ndarray, int]:
        if block < 1 or size % block:
            raise InputError(
                f"groups of GroupL2 is the block size {block}, which does not divide {size} coordinates. "
                "Give a divisor, or one label per coordinate."
            )
        return np.repeat(np.arange(size // block), block), size // block

    def _from_labels(self, labels: np.ndarray, size: int) -> tuple[np.ndarray, int]:
        if labels.size != size:
            raise InputError(
                f"groups of GroupL2 has {labels.size} labels but acts on {size} coordinates. "
                "Give one label per coordinate; a negative one means no group."
            )
        names, numbers = np.unique(labels, return_inverse=True)
        groupless = int(np.count_nonzero(names < 0))
        count = names.size - groupless
        return np.where(numbers < groupless, count, numbers - groupless), count

    def _from_lists(self, size: int) -> tuple[np.ndarray, int]:
        try:
            lists = [np.asarray(group) for group in self.groups]
        except (TypeError, ValueError):
            lists = []
        if not lists or not all(group.ndim == 1 and (group.dtype.kind in "iu" or group.size == 0) for group in lists):
            raise InputError(
                f"groups of GroupL2 is {self.groups!r}. "
                "Give a block size, one integer label per coordinate, or a list of lists of coordinates."
            )
        members = np.concatenate(lists).astype(np.int64)
        wrong = (members < 0) | (members >= size)
        if np.any(wrong):
            raise InputError(
                f"groups of GroupL2 names coordinate {members[wrong][0]} of a vector of {size}. "
                f"Coordinates run from 0 to {size - 1}."
            )
        uses = np.bincount(members, minlength=size)
        if np.any(uses > 1):
            raise InputError(
                f"Groups of GroupL2 overlap: coordinate {int(np.argmax(uses))} is listed {int(uses.max())} times. "
                "Repeat it through F instead: overlapping groups are r2 = GroupL2 on an F that copies coordinates."
            )
        labels = np.full(size, len(lists))
        labels[members] = np.repeat(np.arange(len(lists)), [group.size for group in lists])
        return labels, len(lists)

    @jit.prox
    @staticmethod
    def kernel_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        order = ints[reals.size + 1 :]
        for g in range(reals.size):
            members = order[ints[g] : ints[g + 1]]
            length = _norm(point, members)
            limit = step * reals[g]
            shrink = 1.0 - limit / length if length > limit else 0.0
            for k in range(members.size):
                out[members[k]] = shrink * point[members[k]]

    @jit.prox
    @staticmethod
    def kernel_dual_prox(point: np.ndarray, step: float, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        order = ints[reals.size + 1 :]
        for g in range(reals.size):
            members = order[ints[g] : ints[g + 1]]
            length = _norm(point, members)
            shrink = reals[g] / length if length > reals[g] else 1.0
            for k in range(members.size):
                out[members[k]] = shrink * point[members[k]]

    @jit.linear
    @staticmethod
    def kernel_subgradient(point: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        order = ints[reals.size + 1 :]
        for j in range(point.size):
            out[j] = 0.0
        for g in range(reals.size):
            members = order[ints[g] : ints[g + 1]]
            length = _norm(point, members)
            for k in range(members.size):
                out[members[k]] = reals[g] * point[members[k]] / length if length > 0.0 else 0.0
