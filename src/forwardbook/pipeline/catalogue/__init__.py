"""A package in; every class of it reached, derived, proved, shared with its copies and counted, out."""
