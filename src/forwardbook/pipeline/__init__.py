"""Runs the rooms in order: a class name in, a proved entry out, stored and generated."""
