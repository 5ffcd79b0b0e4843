"""Compiled code that knows rows and vectors and nothing else: the floor everything stands on."""
