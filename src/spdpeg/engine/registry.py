"""Solvers by name."""

from typing import Any

from ..errors import InputError
from ..exact.interior_point import InteriorPoint
from ..exact.one_read import OneRead
from ..exact.prox_lbfgs import ProxLBFGS
from ..exact.prox_newton import ProxNewton
from ..exact.sparsa import SpaRSA
from ..exact.working_set import WorkingSet
from ..parameters import shown
from ..sampled_newton.method import SampledNewton
from ..solvers.adaptive_sadmm import SADMMDiag, SADMMFull
from ..solvers.admm_newton import ADMMNewton
from ..solvers.base import Solver
from ..solvers.condat_vu import CondatVu
from ..solvers.egadm import EGADM
from ..solvers.ladmm import LADMM
from ..solvers.linear_program import LinearProgram
from ..solvers.online_admm import OnlineADMM
from ..solvers.opg_admm import OPGADMM
from ..solvers.pd3o import PD3O
from ..solvers.rda_admm import RDAADMM
from ..solvers.sadmm import SADMM, OptimalSADMM
from ..solvers.sag_admm import SAGADMM
from ..solvers.sdca_admm import SDCAADMM
from ..solvers.sgadm import SGADM
from ..solvers.spdhg import SPDHG
from ..solvers.spdhg_cers import SPDHGCERS
from ..solvers.spdpeg import SPDPEG, SPDPEGSC1, SPDPEGSC2
from ..solvers.svrg_admm import SVRGADMM
from ..solvers.vr_spdpeg import VRSPDPEG

_SOLVERS: tuple[type[Solver], ...] = (
    SPDPEG,
    SPDPEGSC1,
    SPDPEGSC2,
    VRSPDPEG,
    SGADM,
    SADMM,
    OptimalSADMM,
    OPGADMM,
    RDAADMM,
    SADMMDiag,
    SADMMFull,
    OnlineADMM,
    SPDHG,
    SVRGADMM,
    SAGADMM,
    SDCAADMM,
    SPDHGCERS,
    EGADM,
    LADMM,
    CondatVu,
    PD3O,
    ADMMNewton,
    OneRead,
    ProxNewton,
    ProxLBFGS,
    SampledNewton,
    WorkingSet,
    SpaRSA,
    InteriorPoint,
    LinearProgram,
)

REGISTRY: dict[str, type[Solver]] = {solver.about.name: solver for solver in _SOLVERS}


def resolve(name: Any, parameters: dict[str, Any]) -> Solver:
    """The solver called `name` with these parameters."""
    if not isinstance(name, str) or name not in REGISTRY:
        raise InputError(f"There is no solver called {shown(name)}. Choose one of {', '.join(REGISTRY)}.")
    solver = REGISTRY[name]
    known = solver.parameter_names()
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"{name} has no parameter {parameter!r}. It takes: {', '.join(known)}.")
    return solver(**parameters)


def list_solvers() -> list[dict[str, Any]]:
    """The table of solvers: name, summary, update, cost, memory, rate, needs and parameters of each, as text.

    docs/solvers.md shows it with the notation explained.

    Returns
    -------
    list of dict
        One for each solver, in the order of that page.

    See Also
    --------
    solve : Runs one of them.

    Examples
    --------
    >>> import spdpeg
    >>> [row["name"] for row in spdpeg.list_solvers()][:2]
    ['spdpeg', 'spdpeg-sc1']
    """
    columns = ("name", "summary", "update", "cost", "memory", "rate", "needs")
    return [
        {column: getattr(solver.about, column) for column in columns} | {"parameters": solver.parameter_names()}
        for solver in REGISTRY.values()
    ]
