"""Exact models: quadratic functions with penalties in conic form, minimised without data."""
