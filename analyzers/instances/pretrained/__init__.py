"""Says how to build and call the classes of transformers, from their configs and forward() signatures."""
