"""A model or a script in; what ran, measured and held against formulas, out."""
