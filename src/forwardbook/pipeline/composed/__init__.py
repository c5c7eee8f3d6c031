"""Derives entries of own costs and calls: every way to call a class alone, its regimes, and their proof."""
