"""The direction of steepest descent is the same by minimum cuts, by conjugate gradients and by interior points."""

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg.exact import identify
from spdpeg.exact.identify import Identified, Identifier
from spdpeg.exact.pieces import AbsolutePenalties
from spdpeg.penalties import FusedL1


def opened(lines: AbsolutePenalties, x: np.ndarray, gradient: np.ndarray, cuts: bool = False) -> Identified:
    identifier = Identifier(lines, None)
    if not cuts:
        identifier._graph = None
    return identifier(x, gradient, 1.0, 10**6)


@pytest.mark.parametrize("seed", range(30))
def test_three_ways_to_the_same_pieces(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 60))
    ends = np.array([rng.choice(d, 2, replace=False) for _ in range(rng.integers(1, 3 * d))])
    rows = np.repeat(np.arange(ends.shape[0]), 2)
    K = sp.csr_array((np.tile([1.0, -1.0], ends.shape[0]), (rows, ends.ravel())), shape=(ends.shape[0], d))
    lines = AbsolutePenalties.made(K, rng.uniform(0.1, 1.0, K.shape[0]), rng.integers(0, 2, d) * 0.3, np.zeros(d))
    x, gradient = rng.integers(0, 3, d).astype(float), rng.standard_normal(d)
    asked: list[int] = []

    def counted(*arguments: object) -> object:
        asked.append(1)
        return honest(*arguments)

    honest = identify.minimize
    monkeypatch.setattr(identify, "minimize", counted)
    found = opened(lines, x, gradient)
    assert not asked
    monkeypatch.setattr(identify, "_PRODUCTS", ())
    known = opened(lines, x, gradient)
    assert asked
    assert known.multipliers is not None
    for other in (found, opened(lines, x, gradient, cuts=True)):
        np.testing.assert_array_equal(other.pieces.labels, known.pieces.labels)
        # Multipliers along cycles are not unique; what they add up to at the coordinates is.
        assert other.multipliers is not None
        assert np.all(np.abs(other.multipliers) <= lines.cost)
        slopes = [
            np.abs(gradient + lines.K.T @ y + lines.weight * np.sign(x)) for y in (other.multipliers, known.multipliers)
        ]
        left = [np.maximum(slope - np.where(x == 0.0, lines.weight, 0.0), 0.0) for slope in slopes]
        np.testing.assert_allclose(left[0], left[1], atol=1e-6)


@pytest.mark.parametrize("along_chain", [False, True])
def test_pieces_that_are_opened_in_advance_divide_the_others(along_chain: bool) -> None:
    rng = np.random.default_rng(5)
    d = 80
    K = sp.csr_array(sp.diags_array([-np.ones(d - 1), np.ones(d - 1)], offsets=[0, 1], shape=(d - 1, d)))
    lines = AbsolutePenalties.made(K, np.full(d - 1, 0.7), np.full(d, 0.5), np.zeros(d))
    identifier = Identifier(lines, FusedL1(0.5, 0.7) if along_chain else None)
    x, gradient = np.repeat(rng.integers(0, 3, d // 10).astype(float), 10), rng.standard_normal(d)
    needed = identifier(x, gradient, 1e-3, d).pieces
    more = identifier(x, gradient, 1e-3, d, wanted=2 * needed.number)
    assert needed.number < more.pieces.number <= 2 * needed.number
    assert not more.capped
    # Points that are constant on the pieces that are needed are so on the others.
    point = needed.expand(rng.standard_normal(needed.number))
    np.testing.assert_array_equal(more.pieces.expand(more.pieces.reduce(point)), point)
