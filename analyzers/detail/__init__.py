"""Turns one source file into the facts of its page: what each part takes, gives, raises and changes."""
