"""Newton's method with curvature from a sample of the rows, for problems that the exact methods leave.

| file | what |
|---|---|
| method | the method "sampled-newton" |
| models | the quadratic model of a step, for few coordinates, few rows, or sparse rows; minimised by ADMM |
| kernels | the compiled loops of these models |
| chain_face | Newton's steps among the pieces of a chain |
| neighbours | solutions at other weights, from which the next one is extrapolated |
| continuation | from the solution at one pair of weights to the next, with the same model |
| kept_curvature | the same for l1 norms along a chain, with exact models and mostly one read |
"""

from .method import SampledNewton

__all__ = ["SampledNewton"]
