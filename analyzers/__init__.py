"""Analyzers turn source text (and, in `symbolic` alone, a live module) into facts and formulas."""
