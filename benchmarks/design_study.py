"""What the design study measured: suboptimality with untuned defaults, NumPy prototypes, mean of 3 seeds.

The study's synthetic problems are those of `comparators.SYNTHETIC`, drawn anew; its real data came from other files of
the same names (svmguide3 with 21 columns instead of 22). Figures have one or two digits. The study does not
say which regime its optimal SADMM took on ggr: both of ours are compared with its one row.
"""

_SYNTHETIC = """
spdpeg                 1.4e-2 7e-3 5e-3 1.5e-2 1.1e-2    2e-2 5e-3 2e-3 6e-3 5e-3    4e-3 1.5e-3 1e-3 2e-2 9e-3
sgadm                    1e-2 5e-3 3e-3   8e-3   6e-3    4e-2 9e-3 3e-3 5e-3 3e-3    2e-3   1e-3 8e-4 1e-2 6e-3
sadmm                    1e-2 5e-3 3e-3   8e-3   6e-3    3e-2 6e-3 2e-3 4e-3 3e-3    2e-3   1e-3 8e-4 1e-2 6e-3
optimal-sadmm            7e-3 4e-3 3e-3   8e-3   6e-3    2e-2 4e-3 1e-3 4e-3 3e-3    1e-3   4e-4 2e-4 8e-4 3e-4
optimal-sadmm/strongly-convex - -    -       -      -       -    -    -    -    -    1e-3   4e-4 2e-4 8e-4 3e-4
opg-admm                 1e-2 5e-3 4e-3   9e-3   7e-3    2e-2 6e-3 2e-3 4e-3 3e-3    2e-3   1e-3 8e-4 1e-2 6e-3
rda-admm                 2e-2 6e-3 4e-3   7e-3   5e-3    4e-2 2e-2 1e-2 1e-2 7e-3    2e-3   5e-4 2e-4 5e-4 2e-4
sadmm-diag               1e-2 5e-3 4e-3   1e-2   8e-3    1e-2 3e-3 2e-3 6e-3 5e-3    2e-3   1e-3 7e-4 1e-2 6e-3
sadmm-full               1e-2 5e-3 4e-3   8e-3   7e-3    9e-3 2e-3 2e-3 5e-3 4e-3    2e-3   1e-3 8e-4 1e-2 6e-3
online-admm              1e-2 5e-3 3e-3   8e-3   6e-3    2e-2 5e-3 2e-3 4e-3 3e-3    3e-3   2e-3 9e-4 1e-2 6e-3
spdhg                    1e-2 5e-3 4e-3   9e-3   7e-3    2e-2 6e-3 2e-3 4e-3 3e-3    2e-3   1e-3 8e-4 1e-2 6e-3
svrg-admm                2e-2 2e-3 6e-4   8e-6   2e-9    1e-1 3e-2 7e-3 5e-3 4e-4    1e-3   1e-4 3e-5 4e-11 4e-17
sag-admm                 1e-1 2e-2 5e-3   4e-7  1e-12    3e-2 3e-3 6e-4 8e-5 9e-7    5e-3   2e-4 4e-5 4e-11 7e-17
sag-admm/inexact         5e-2 1e-2 3e-3   2e-3   3e-5    1e-1 5e-2 2e-2 2e-2 5e-3    1e-3   8e-5 1e-5 3e-10 2e-16
sag-admm/exact           5e-2 1e-2 3e-3   2e-3   3e-5    1e-1 5e-2 2e-2 2e-2 5e-3    1e-3   7e-5 1e-5 3e-10 2e-16
sdca-admm                2e-2 1e-3 2e-4   9e-7  2e-12    3e-2 2e-3 4e-4 4e-6 3e-10   2e-2   1e-3 2e-4 2e-8 7e-15
spdhg-cers               1e-2 1e-3 3e-4   4e-7  6e-11    4e-3 4e-4 1e-4 2e-6 2e-10   1e-3   1e-4 3e-5 3e-10 7e-17
egadm                    1e-1 7e-2 3e-2   4e-2   1e-2    2e-1 1e-1 7e-2 8e-2 3e-2    2e-2   3e-3 7e-4 4e-4 5e-5
egadm/original           3e-1 3e-1 3e-1   3e-1   3e-1    4e-1 4e-1 4e-1 4e-1 3e-1    2e-1   2e-1 2e-1 2e-1 1e-1
ladmm                    4e-2 1e-2 3e-3   6e-3   3e-4    9e-2 3e-2 1e-2 1e-2 2e-3    1e-3   3e-4 1e-4 9e-5 7e-6
spdpeg-sc1                  -    -    -      -      -       -    -    -    -    -    3e-3   9e-4 4e-4 1e-3 6e-4
spdpeg-sc2                  -    -    -      -      -       -    -    -    -    -    3e-3   9e-4 4e-4 3e-3 1e-3
"""

_REAL = """
sgadm             5.1e-2 1.1e-2 -      -      5.2e-3 2.0e-3 -      -      4.6e-3 1.4e-3 -      -
optimal-sadmm     2.7e-2 4.3e-3 -      -      3.5e-3 1.3e-3 -      -      2.2e-3 5.7e-4 -      -
sadmm-diag        3.2e-2 6.6e-3 -      -      2.3e-3 1.0e-3 -      -      2.1e-3 1.0e-3 -      -
svrg-admm         -      -      5.7e-2 2.6e-3 -      -      6.2e-3 1.4e-3 -      -      1.6e-3 1.1e-5
sdca-admm         -      -      5.6e-3 1.8e-6 -      -      9.8e-4 9.8e-5 -      -      7.9e-4 3.5e-7
spdhg-cers        -      7e-4   8.0e-3 7.5e-3 -      -      8.5e-4 2.1e-4 -      -      4.2e-4 1.4e-7
"""

_COLUMNS = {
    _SYNTHETIC: (
        ("A-unit", "A-raw", "ggr"),
        (("average", 5), ("average", 20), ("average", 50), ("last", 20), ("last", 50)),
    ),
    _REAL: (("splice", "svmguide3", "mushrooms"), (("average", 5), ("average", 20), ("last", 5), ("last", 20))),
}


def figures() -> dict[tuple[str, str, str, int], float]:
    """Suboptimality by problem, solver (with its variant), "average" or "last", and passes."""
    known: dict[tuple[str, str, str, int], float] = {}
    for table, (problems, places) in _COLUMNS.items():
        for line in table.strip().splitlines():
            solver, *cells = line.split()
            keys = [(problem, solver, *place) for problem in problems for place in places]
            known |= {key: float(cell) for key, cell in zip(keys, cells, strict=True) if cell != "-"}
    return known
