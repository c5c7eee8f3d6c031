"""Turns one real run of a module on meta tensors with concolic sizes into costs per line: the only room with a live module."""
