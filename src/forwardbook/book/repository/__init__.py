"""The repository set: facts, calls and statistics in, the pages about a whole folder out."""
