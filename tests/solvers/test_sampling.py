"""Row orders are functions of the seed and the position alone, and have the distribution they promise."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from spdpeg import InputError
from spdpeg.solvers import sampling
from spdpeg.solvers.sampling import Independent, Reshuffled

SAMPLERS: dict[str, Callable[[int, int, int], sampling.Sampler]] = {
    "independent": Independent,
    "reshuffled": Reshuffled,
    "blocks": lambda n, b, seed: Reshuffled(n, b, seed, rows_together=10),
}
every_sampler = pytest.mark.parametrize("make", SAMPLERS.values(), ids=SAMPLERS)


@every_sampler
@pytest.mark.parametrize(("n", "b"), [(1, 1), (53, 1), (53, 7), (53, 53), (20_001, 1), (20_001, 64)])
def test_cutting_a_run_changes_nothing(make: Callable[..., sampling.Sampler], n: int, b: int) -> None:
    whole = make(n, b, 5).draw(0, 400)
    assert whole.size == 400 * b
    assert whole.min() >= 0
    assert whole.max() < n
    sampler, pieces, first = make(n, b, 5), [], 0
    for count in (1, 2, 39, 0, 158, 200):
        pieces.append(sampler.draw(first, count))
        first += count
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    # A fresh sampler starts anywhere, and an old one may go back.
    np.testing.assert_array_equal(make(n, b, 5).draw(300, 100), whole[300 * b :])
    np.testing.assert_array_equal(sampler.draw(7, 3), whole[7 * b : 10 * b])


@every_sampler
def test_seeds_differ(make: Callable[..., sampling.Sampler]) -> None:
    assert not np.array_equal(make(53, 1, 0).draw(0, 53), make(53, 1, 1).draw(0, 53))


@pytest.mark.parametrize(("n", "b"), [(30, 1), (30, 3), (30, 11), (1000, 4)])
def test_independent_rows_are_uniform(n: int, b: int) -> None:
    batches = Independent(n, b, 0).draw(0, 60 * n).reshape(-1, b)
    for place in {0, b - 1}:
        assert stats.chisquare(np.bincount(batches[:, place], minlength=n)).pvalue > 1e-3
    # Neighbouring batches are independent: their pairs are uniform too.
    pairs = batches[:-1:2, 0] % 6 * 6 + batches[1::2, 0] % 6
    shares = np.outer(*[np.bincount(np.arange(n) % 6) / n] * 2).reshape(-1)
    assert stats.chisquare(np.bincount(pairs, minlength=36), shares * pairs.size).pvalue > 1e-3


@pytest.mark.parametrize(("n", "b"), [(30, 3), (30, 30), (1000, 4), (100_000, 50)])
def test_no_row_twice_in_a_batch(n: int, b: int) -> None:
    batches = np.sort(Independent(n, b, 0).draw(0, 500).reshape(-1, b), axis=1)
    assert np.all(np.diff(batches, axis=1) > 0)


@pytest.mark.parametrize("make", [SAMPLERS["reshuffled"], SAMPLERS["blocks"]], ids=["reshuffled", "blocks"])
def test_each_row_once_per_pass(make: Callable[..., sampling.Sampler]) -> None:
    passes = make(53, 1, 0).draw(0, 3 * 53).reshape(3, 53)
    for order in passes:
        np.testing.assert_array_equal(np.sort(order), np.arange(53))
    assert len({order.tobytes() for order in passes}) == 3


def test_blocks_stay_together_and_are_shuffled() -> None:
    orders = Reshuffled(50, 1, 0, rows_together=10).draw(0, 3000 * 50).reshape(3000, 5, 10)
    blocks = orders // 10
    assert np.all(blocks == blocks[:, :, :1])
    first = np.bincount(blocks[:, 0, 0], minlength=5)
    inside = np.bincount(orders[:, :, 0].reshape(-1) % 10, minlength=10)
    assert stats.chisquare(first).pvalue > 1e-3
    assert stats.chisquare(inside).pvalue > 1e-3


def test_the_order_of_blocks_tells_nothing_about_the_order_inside() -> None:
    for seed in range(5):
        order = Reshuffled(100, 1, seed, rows_together=10).draw(0, 100).reshape(10, 10)
        assert not np.array_equal(order[:, 0] // 10, order[0] % 10)


def test_auto_depends_on_where_the_rows_are() -> None:
    assert isinstance(sampling.make("auto", 9000, 1, 0, on_disk=False), Independent)
    on_disk = sampling.make("auto", 9000, 1, 0, on_disk=True)
    assert isinstance(on_disk, Reshuffled)
    assert on_disk.rows_together < 9000


def test_unknown_name() -> None:
    with pytest.raises(InputError, match=r"sampling is 'sorted'\. Choose one of .*independent"):
        sampling.make("sorted", 10, 1, 0, False)
