"""The methods, one file for each paper; `spdpeg.list_solvers()` is their table."""

from .adaptive_sadmm import SADMMDiag, SADMMFull
from .admm_newton import ADMMNewton
from .base import About, Periodic, Solution, Solver, Watcher
from .condat_vu import CondatVu
from .egadm import EGADM
from .ladmm import LADMM
from .linear_program import LinearProgram
from .online_admm import OnlineADMM
from .opg_admm import OPGADMM
from .pd3o import PD3O
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

__all__ = [
    "EGADM",
    "LADMM",
    "OPGADMM",
    "PD3O",
    "RDAADMM",
    "SADMM",
    "SAGADMM",
    "SDCAADMM",
    "SGADM",
    "SPDHG",
    "SPDHGCERS",
    "SPDPEG",
    "SPDPEGSC1",
    "SPDPEGSC2",
    "SVRGADMM",
    "VRSPDPEG",
    "ADMMNewton",
    "About",
    "CondatVu",
    "LinearProgram",
    "OnlineADMM",
    "OptimalSADMM",
    "Periodic",
    "SADMMDiag",
    "SADMMFull",
    "Solution",
    "Solver",
    "Watcher",
]
