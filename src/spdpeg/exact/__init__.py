"""Exact methods: a few reads of all rows, and models with penalties in conic form that are minimised without data.

| file | what |
|---|---|
| one_read, bounds | the squared loss, from second moments alone, and the lower bound that comes with it |
| prox_newton, newton | Newton's steps on the model of all coordinates |
| prox_lbfgs | quasi-Newton steps for a ridge and many coordinates |
| sparsa | proximal gradient steps of spectral length, where pieces are too many for a model of them |
| working_set, identify, pieces | the same among few pieces of many coordinates |
| interior_point, split_program | losses made of lines, in one go |
| quadratic | the model, minimised by interior points (central_path, dense, sparse) and put on its face (crossover) |
| penalties | the penalties of a problem as one conic form |
"""

from .interior_point import InteriorPoint
from .one_read import OneRead
from .prox_lbfgs import ProxLBFGS
from .prox_newton import ProxNewton
from .sparsa import SpaRSA
from .working_set import WorkingSet

__all__ = ["InteriorPoint", "OneRead", "ProxLBFGS", "ProxNewton", "SpaRSA", "WorkingSet"]
