"""Exact methods: a few reads of all rows, and models with penalties in conic form that are minimised without data.

| file | what |
|---|---|
| one_read, quadratic_bound, signal | the squared loss, from second moments alone, with its own lower bound; signals |
| prox_newton, newton | Newton's steps on the model of all coordinates, begun on a sample of the rows |
| newton_models | how models are minimised: interior points, face by face, block by block, 32 digits |
| few_rows | the curvature of few rows and many coordinates, kept as rows |
| prox_lbfgs, secants | quasi-Newton steps for a ridge and many coordinates; the matrix that they show |
| working_set, identify, pieces, condensed | Newton's steps among few pieces of many coordinates |
| interpolation | its first step where directions without penalties are as many as the rows |
| group_pieces, block_newton | the same where pieces are single columns or groups, in one compiled call |
| gram_descent | the same for the squared loss and single columns, on the matrix of their products |
| block_models, block_face, block_terms | its models, by coordinate descent and Newton steps among what is not 0 |
| sparsa | proximal gradient steps of spectral length, where pieces are too many for a model of them |
| interior_point, split_program | losses made of lines, in one go |
| joint_newton, multinomial, cox | losses that are no sum over single margins: all classes at once, times until events |
| penalty_form | the penalties of a problem as one conic form |
"""

from .interior_point import InteriorPoint
from .one_read import OneRead
from .prox_lbfgs import ProxLBFGS
from .prox_newton import ProxNewton
from .sparsa import SpaRSA
from .working_set import WorkingSet

__all__ = ["InteriorPoint", "OneRead", "ProxLBFGS", "ProxNewton", "SpaRSA", "WorkingSet"]
