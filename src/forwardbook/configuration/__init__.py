"""Turns folders of YAML files and overrides into one checked configuration, in the file layout of Hydra."""
