"""Runs of a class in; out its proved regimes, with only the conditions that matter, and its entry."""
