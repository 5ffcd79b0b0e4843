"""Compiled steps that several methods share, and nothing else."""
