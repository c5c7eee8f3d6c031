"""Agents turn a prompt and facts into proposals that the proof or the verifier must confirm."""
