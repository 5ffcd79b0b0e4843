"""Compiled steps that several methods share, and nothing else.

| file | what |
|---|---|
| extragradient, adaptive, learned | the step of SPDPEG; the one that finds its own length, and what it learns |
| condat_vu, pd3o, linearized | the steps of Condat and Vu, of PD3O and of linearized ADMM |
| composite_prox, normal_equations | problems inside a step: the prox of r1 + r2(F .), and (rho F^T F + diag) x = b |
| primal_dual | parts of all of them: gradient estimates, moves, averages, dual updates |
| records | what a step takes, as records instead of long lists of arguments |
"""
