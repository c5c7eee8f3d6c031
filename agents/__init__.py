"""Agents turn a prompt and facts into proposals that the proof must confirm."""
