"""How the classes of torch.nn are built and called, one row each, a file per family."""
