"""Paths in; pages that explain their code, every claim held against the source, out."""
