"""Source text in, facts out: definitions with exact spans, imports, calls. Nothing is imported or run."""
