"""What the tests measure the package with: formulas, problems, a slow twin and a conic solver, all written apart from it."""
