"""Turns one real run of a module on meta tensors with concolic sizes into costs per line."""
