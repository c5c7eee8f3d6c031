"""Roles: each turns facts into one task, a prompt and a checker, for whoever answers it."""
