"""The guard: two states of a class in; out what a call costs more or less, by line, and budgets kept."""
