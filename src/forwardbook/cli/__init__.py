"""Commands: arguments in, calls and printing out, one file per command group."""
