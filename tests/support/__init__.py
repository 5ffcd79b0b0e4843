"""What the tests measure the package with, written apart from it: formulas, a slow twin, a conic solver."""
