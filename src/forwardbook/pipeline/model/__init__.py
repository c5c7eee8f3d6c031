"""A model in; its architecture, its modules, their parameters and its costs out."""
