"""Processes with limits, in which alone analysed code runs: what is asked of them, and what comes back."""
