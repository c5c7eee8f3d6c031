"""A workspace in; out its stale entries derived and proved again."""
