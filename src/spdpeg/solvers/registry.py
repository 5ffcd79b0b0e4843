"""Solvers by name."""

from typing import Any

from ..errors import InputError
from .adaptive_sadmm import SADMMDiag, SADMMFull
from .admm_newton import ADMMNewton
from .base import Solver
from .condat_vu import CondatVu
from .egadm import EGADM
from .ladmm import LADMM
from .linear_program import LinearProgram
from .online_admm import OnlineADMM
from .opg_admm import OPGADMM
from .pd3o import PD3O
from .prox_newton import ProxNewton
from .rda_admm import RDAADMM
from .sadmm import SADMM, OptimalSADMM
from .sag_admm import SAGADMM
from .sdca_admm import SDCAADMM
from .sgadm import SGADM
from .spdhg import SPDHG
from .spdhg_cers import SPDHGCERS
from .spdpeg import SPDPEG, SPDPEGSC1, SPDPEGSC2
from .svrg_admm import SVRGADMM
from .vr_spdpeg import VRSPDPEG

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
    ProxNewton,
    LinearProgram,
)

REGISTRY: dict[str, type[Solver]] = {solver.name: solver for solver in _SOLVERS}


def resolve(name: Any, parameters: dict[str, Any]) -> Solver:
    """The solver called `name` with these parameters."""
    if name not in REGISTRY:
        raise InputError(f"There is no solver called {name!r}. Choose one of {', '.join(REGISTRY)}.")
    solver = REGISTRY[name]
    known = solver.parameter_names()
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"{name} has no parameter {parameter!r}. It takes: {', '.join(known)}.")
    return solver(**parameters)
