"""Turns a folder of texts or images and a checkpoint into predictions, without any profiler."""
