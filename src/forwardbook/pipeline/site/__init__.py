"""A workspace in; the pages of its book out."""
