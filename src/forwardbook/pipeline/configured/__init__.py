"""Configurations of Hydra in; the stages that they switch on, run, out."""
