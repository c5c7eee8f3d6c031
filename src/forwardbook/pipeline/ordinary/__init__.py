"""Ordinary sizes: what entries answer there, held against runs."""
