"""Newton's method with curvature from a sample of the rows, for problems that the exact methods leave.

| file | what |
|---|---|
| method | the method "sampled-newton" |
| models | the quadratic model of a step, for few coordinates, few rows, or sparse rows; minimised by ADMM |
| kernels | the compiled loops of these models |
| chain_face | Newton's steps among the pieces of a chain |
| continuation | from the solution at one pair of weights to the next, with the same model |
"""

from .method import SampledNewton

__all__ = ["SampledNewton"]
