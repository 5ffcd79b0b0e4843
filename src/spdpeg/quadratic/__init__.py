"""Quadratic models with penalties, minimised exactly and without data.

    min over w of  1/2 w^T H w - b^T w + (lines and groups of a ConicForm)

Newton steps, one-read and the conic programs of non-smooth losses all come down to this problem. Nothing here knows
rows, losses or tolerances of a run.

| file | what |
|---|---|
| model | the model, and what is known of its minimiser |
| minimization | interior points: scale, follow the central path, return to the units of the model |
| scaling | unit diagonal, unit rows, unit b |
| central_path | one step along the path, whatever solves its linear systems |
| dense, sparse | the run for a dense H, and for a sparse one or one that is diagonal plus few rows |
| extended | the linear systems of small models in twice the digits, where doubles lose theirs |
| linear_algebra | sparse positive definite matrices, factored many times |
| stopping | when a run ends |
| vertex | models without curvature by the simplex method |
| stationary | the rest of the optimality condition, removed by the smallest change |
| infeasible | proofs that a model has no solution |
| crossover, simple_face | from an interior point to exact zeros, equal neighbours and active bounds |
| refinement | multipliers and w without noise, for certificates |
| absolute | all of this in one compiled call, for absolute values beside a dense H |
| from_guess | the same by a few linear systems, from a guess of the minimiser |
| absolute_values | what these two share: products, objective, optimality conditions |
| multipliers | conjugate gradients among multipliers, for absolute values beside a diagonal plus few rows |
| level_sets | minimum cuts, level by level, for differences of two entries beside a diagonal |
| along_chain | face by face from a good guess instead, for l1 norms alone or along a chain |
| minimum | the minimum as methods ask for it: whichever of these it takes |
| semidefinite | interior points for models with nuclear norms |
| augmented | the same problem for penalties that are known by their prox alone |
"""

from .crossover import to_face, to_pieces
from .minimization import ACCURACY, minimize
from .minimum import Minimum, minimum, within
from .model import LowRank, Model, ModelSolution, Status
from .refinement import on_face

__all__ = [
    "ACCURACY",
    "LowRank",
    "Minimum",
    "Model",
    "ModelSolution",
    "Status",
    "minimize",
    "minimum",
    "on_face",
    "to_face",
    "to_pieces",
    "within",
]
