"""Turns a config into an architecture and numbers for its parameters, formulas into totals and sweeps."""
