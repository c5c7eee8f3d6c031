"""Derives a class alone, at its own boundary: what its constructor and its forward() are handed."""
