"""Whatever `solve` and `Problem` are given, what they refuse is an error of this package on one line."""

import numpy as np
import pytest

import spdpeg
from spdpeg import InputError, SpdpegError, losses, operators, penalties, theory
from spdpeg.kernels import jit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 4))
Y = np.where(X[:, 0] > 0, 1.0, -1.0)


class Odd:
    """Something that is not even an array."""

    def __array__(self, *args, **options):
        raise RuntimeError("no")

    def __repr__(self):
        return "Odd\nthing"


ODD = {
    "text": "a",
    "bytes": b"x",
    "nan": np.nan,
    "infinite": np.inf,
    "negative": -1,
    "huge int": 10**400,
    "complex": 1j,
    "empty": [],
    "list": [1, 2],
    "dict": {},
    "set": set(),
    "object": object(),
    "odd": Odd(),
    "text array": np.array("x"),
    "ragged": np.array([1, [2]], dtype=object),
    "matrix": np.zeros((2, 2)),
    "date": np.datetime64("2020"),
    "function": len,
}


def problem(**changes):
    given = {"r1": penalties.L1(0.01), "r2": penalties.L1(0.01), "F": operators.FirstDifference(), **changes}
    return spdpeg.Problem(**{"X": X, "y": Y, "loss": losses.Logistic(), **given})


def refused(call):
    with pytest.raises(SpdpegError) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    "name",
    [
        "max_passes",
        "max_seconds",
        "max_iterations",
        "tol",
        "seed",
        "batch_size",
        "x0",
        "dual0",
        "state",
        "record_every",
    ],
)
def test_arguments_of_solve(name, value):
    allowed = name == "tol" and value == "infinite"
    if not allowed:
        refused(lambda: spdpeg.solve(problem(), "spdpeg", **{"max_passes": 1, name: ODD[value]}))


@pytest.mark.parametrize("value", ODD)
def test_the_rest_of_solve(value):
    refused(lambda: spdpeg.solve(ODD[value]))
    refused(lambda: spdpeg.solve(problem(), ODD[value]))
    refused(lambda: spdpeg.solve(problem(), "spdpeg", rho=ODD[value]))
    refused(lambda: spdpeg.solve(problem(), "spdpeg", mode=ODD[value]))
    if value != "function":
        refused(lambda: spdpeg.solve(problem(), "spdpeg", max_passes=1, callback=ODD[value]))


@pytest.mark.parametrize("solver", [about["name"] for about in spdpeg.list_solvers()])
@pytest.mark.parametrize("value", ["text", "nan", "list", "odd", "complex"])
def test_parameters_of_every_solver(solver, value):
    for about in spdpeg.list_solvers():
        for parameter in about["parameters"] if about["name"] == solver else []:
            refused(lambda parameter=parameter: spdpeg.solve(problem(), solver, **{parameter: ODD[value]}))


def test_numbers_at_the_edge():
    refused(lambda: spdpeg.solve(problem(), "spdpeg", seed=None))
    refused(lambda: spdpeg.solve(problem(), "spdpeg", max_iterations=1.5))
    refused(lambda: spdpeg.solve(problem(), "spdpeg", rho=1e308))
    refused(lambda: spdpeg.solve(problem(), "spdhg-cers", gamma=None))
    assert spdpeg.solve(problem(), "spdpeg", max_passes=1, record_every=1e308).passes == 1


@pytest.mark.parametrize("value", [value for value in ODD if value not in ("negative", "nan", "infinite")])
@pytest.mark.parametrize("name", ["loss", "r1", "r2", "domain", "sample_weight", "intercept", "y"])
def test_arguments_of_a_problem(name, value):
    refused(lambda: problem(**{name: ODD[value]}))


@pytest.mark.parametrize("value", ODD)
def test_points(value):
    at = problem()
    for call in (at.objective, at.gradient, at.split, at.join, lambda x: at.certificate(x, np.zeros(3))):
        refused(lambda call=call: call(ODD[value]))
    refused(lambda: at.certificate(np.zeros(4), ODD[value]))
    if value != "negative":
        refused(lambda: problem(intercept=True).join(np.zeros(4), ODD[value]))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["a"] * 10 + [1] * 10, dtype=object), "mixes labels of the types int, str"),
        (np.arange(20) * 1j, "entries of type complex"),
        (np.arange(20).astype("datetime64[D]"), "entries of type datetime64"),
    ],
)
def test_labels(labels, message):
    with pytest.raises(InputError) as error:
        problem(y=labels)
    assert message in str(error.value)


def test_complex_labels_are_no_numbers():
    refused(lambda: problem(y=np.arange(20) * 1j, loss=losses.Squared()))


@pytest.mark.parametrize("size", [2.0**-1070, 2.0**-1000, 2.0**1000, 2.0**1023])
def test_weights_of_any_unit_are_the_same_weights(size):
    plain, other = problem(sample_weight=np.ones(20)), problem(sample_weight=np.full(20, size))
    np.testing.assert_array_equal(plain.view.rows.block.weights, other.view.rows.block.weights)
    x = RNG.standard_normal(4)
    assert plain.objective(x) == other.objective(x)


@pytest.mark.parametrize("value", [value for value in ODD if value != "infinite"])
def test_terms(value):
    for penalty in (penalties.L1, penalties.L2Squared, penalties.LInf, penalties.L2Ball, penalties.HuberL1):
        if value != "list":
            refused(lambda penalty=penalty: problem(r1=penalty(ODD[value])))
            refused(lambda penalty=penalty: penalty(ODD[value]).prox(np.ones(4)))
    refused(lambda: penalties.L1(0.1).prox(np.ones(3), ODD[value]))
    refused(lambda: losses.Huber(ODD[value]).value(1.0, 1.0))
    refused(lambda: operators.FirstDifference().bind(ODD[value]))
    if value != "matrix":  # four numbers, whatever their shape
        refused(lambda: operators.FirstDifference().bind(4) @ ODD[value])
    refused(lambda: theory.convex(ODD[value], base=1.0, diameter=1.0, sigma=1.0, rho=1.0, dual_norm=1.0))


class Bare(losses.Loss):
    """Without a conjugate, which is no fault, and without a curvature, which is one."""

    @jit.scalar
    @staticmethod
    def kernel_value(t, b, reals, ints):
        return np.log(np.cosh(t - b))

    @jit.scalar
    @staticmethod
    def kernel_derivative(t, b, reals, ints):
        return np.tanh(t - b)


class WithCurvature(Bare):
    curvature = 1.0


@pytest.mark.parametrize("weights", [None, np.r_[0.0, np.ones(19)]])
def test_a_loss_that_does_not_know_its_conjugate_keeps_its_run(weights):
    made = problem(loss=WithCurvature(), y=X[:, 0], sample_weight=weights)
    result = spdpeg.solve(made, max_passes=50)
    assert result.certificate.dual == -np.inf
    assert result.objective < made.objective(np.zeros(4))


def test_missing_parts_of_a_term_are_told_at_once():
    with pytest.raises(InputError, match=r"Bare lacks curvature\. Every loss needs curvature, kernel_value"):
        problem(loss=Bare(), y=X[:, 0])

    class Half(penalties.Penalty):
        pass

    with pytest.raises(InputError, match="Half lacks value, pack, kernel_prox"):
        problem(r1=Half())

    class Part(operators.Operator):
        pass

    with pytest.raises(InputError, match="Part lacks n_outputs"):
        problem(F=Part())
