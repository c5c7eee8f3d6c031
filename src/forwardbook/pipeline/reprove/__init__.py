"""Stored entries in; whether they hold at fresh, larger sizes out."""
