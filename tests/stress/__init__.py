"""The stress suite: random problems, units, damaged files, kills. `python -m stress --help` from tests/ tells how.

Every case is made from its part and one whole number, the seed; printing the seed is enough to run it again.
"""
