"""How far a point is from optimal, with proof where there is one.

For any u and y with finite conjugates, D(u, y) = -(1/N) sum w_i phi*(u_i) - r2*(y) - r1*(-(A^T W u / N + F^T y)) is a
lower bound on the optimal value (Fenchel). docs/theory.md explains why the bound holds in floating point too.

| file | what |
|---|---|
| record | the certificate, and what it says about a tolerance |
| slopes | the dual variables of the rows: from x, from a solver, or moved to where no free direction is left |
| bound | D(u, y), made feasible in floating point |
| balanced | multipliers moved to where nothing is left over, along a spanning forest where rows tie two coordinates |
| restore | slopes and multipliers moved into their domain, in 32 digits, on small problems |
| residual | what is said where no bound exists |
"""

from .bound import bound, certify, kkt_residual, least_gap, norm_bound, norm_scale
from .record import Certificate
from .slopes import null_model, objective_size

__all__ = [
    "Certificate",
    "bound",
    "certify",
    "kkt_residual",
    "least_gap",
    "norm_bound",
    "norm_scale",
    "null_model",
    "objective_size",
]
