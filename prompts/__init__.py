"""Prompts: the texts that agents fill with facts, one Jinja template per task."""
