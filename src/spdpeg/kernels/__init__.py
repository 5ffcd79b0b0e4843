"""Compiled code that knows rows and vectors and nothing else: the floor everything stands on.

| file | what |
|---|---|
| jit, lanes | compiling, caching, calling; numbers side by side in a register: only these know Numba's ways |
| terms, losses | terms as kernels take them, and terms made of others; a loss of many rows |
| rows, row_sums, sweeps | rows, dense or sparse; sums over them; those with curvature, in one read |
| several_models | minima of some models, in one read |
| collapse | columns added up over pieces |
| columns | the same data column by column, for coordinate descent |
| chain, weighted_chain | total variation along a chain, and the fused lasso of a signal with weights |
| thresholds, exponentials | projections onto balls; exp and log as vector instructions |
| lapack, double_double | factorisations inside kernels; numbers of 32 digits |
| unions | connected parts of a graph |
| mixing | the buffer of a stream |
| survival | rows in the order of their times |
| deadline | the end of a budget of seconds, inside a step |
| decimals | numbers and tables read from text |
"""
