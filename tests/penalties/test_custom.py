"""Terms that a user writes: in a function, at a prompt, in a notebook."""

import textwrap
from typing import Any

import numpy as np
import pytest

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.kernels import jit

SOURCE = textwrap.dedent(
    '''
    import numpy as np
    from spdpeg import losses, penalties
    from spdpeg.kernels import jit
    from spdpeg.penalties.base import Packed

    class Cone(penalties.Penalty):
        """weight * max(v, 0)."""

        separable = homogeneous = True

        def __init__(self, weight=1.0):
            self.weight = weight

        def value(self, v):
            return float(self.weight * np.maximum(v, 0.0).sum())

        def conjugate(self, u):
            return 0.0 if np.all((u >= 0) & (u <= self.weight)) else np.inf

        def pack(self, size):
            return Packed(np.array([self.weight]), jit.NONE)

        @jit.prox
        def kernel_prox(point, step, reals, ints, out):
            for j in range(point.size):
                out[j] = point[j] - min(max(point[j], 0.0), step * reals[0])

    class LogCosh(losses.Loss):
        """log cosh(t - b)."""

        bounded_slope = True
        curvature = 1.0

        @jit.scalar
        def kernel_value(t, b, reals, ints):
            r = abs(t - b)
            return r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)

        @jit.scalar
        def kernel_derivative(t, b, reals, ints):
            return np.tanh(t - b)
    '''
)


@pytest.fixture(params=["named", "nameless"])
def typed(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a prompt knows after the classes were typed; code run by `exec` may have no module name at all."""
    scope: dict[str, Any] = {"__name__": "__main__"} if request.param == "named" else {}
    exec(SOURCE, scope)
    return scope


def test_a_penalty_without_a_file(typed: dict[str, Any]) -> None:
    cone = typed["Cone"](0.5)
    np.testing.assert_array_equal(cone.prox([2.0, 0.25, -1.0]), [1.5, 0.0, -1.0])
    np.testing.assert_array_equal(cone.dual_prox([2.0, 0.25, -1.0]), [0.5, 0.25, 0.0])
    held = penalties.constrain(cone, penalties.L2Ball(1.0))
    np.testing.assert_allclose(held.prox([3.5, 0.25, -4.0]), [0.6, 0.0, -0.8])


def test_a_loss_without_a_file_in_a_problem(typed: dict[str, Any]) -> None:
    X, y = np.eye(3), np.array([1.0, -2.0, 0.0])
    problem = spdpeg.Problem(
        X, y, loss=typed["LogCosh"](), r1=typed["Cone"](0.1), r2=penalties.L1(0.1), F=operators.FirstDifference()
    )
    x = np.array([0.5, -1.0, 2.0])
    expected = np.log(np.cosh(x - y)).mean() + 0.1 * 2.5 + 0.1 * 4.5
    assert problem.objective(x) == pytest.approx(expected)
    np.testing.assert_allclose(problem.gradient(x), np.tanh(x - y) / 3)


def test_a_penalty_made_inside_a_function() -> None:
    shift = 2.0

    class Shifted(penalties.L1):
        """|v - 2|, with the 2 taken from the function around it."""

        @jit.prox
        def kernel_prox(point, step, reals, ints, out):  # type: ignore[no-untyped-def]
            for j in range(point.size):
                away = point[j] - shift
                out[j] = point[j] - min(max(away, -step * reals[0]), step * reals[0])

        kernel_dual_prox = None

    np.testing.assert_array_equal(Shifted(1.0).prox([5.0, 2.5, 0.0]), [4.0, 2.0, 1.0])
    np.testing.assert_allclose(Shifted(1.0).dual_prox([5.0, 2.5, 0.0]), [1.0, 0.5, -1.0])


def test_a_subclass_that_changes_no_hook() -> None:
    class Half(losses.Squared):
        """The squared loss under another name."""

    assert Half().value(3.0, 1.0) == losses.Squared().value(3.0, 1.0)
