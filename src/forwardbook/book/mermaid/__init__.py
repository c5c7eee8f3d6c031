"""Mermaid text: written from call edges, read back into values, and held against the real grammar."""
