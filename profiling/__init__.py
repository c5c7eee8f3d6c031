"""Profiling turns a module and sizes into measurements and verdicts."""
