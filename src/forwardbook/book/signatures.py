"""A signature on one line in, the same with a parameter on each line out, where it is long."""

from __future__ import annotations

WIDTH = 100


def wrapped(signature: str) -> str:
    """A long signature with a parameter on each line."""
    head, bracket, rest = signature.partition("(")
    if len(signature) <= WIDTH or not bracket:
        return signature
    lines, depth, begin = [], 0, 0
    for at, letter in enumerate(rest):
        depth += (letter in "([{<") - (letter in ")]}>" and rest[at - 1 : at] != "-")
        if depth < 0 or (letter == "," and depth == 0):
            lines.append(rest[begin : at + (letter == ",")].strip())
            begin = at + (letter == ",")
        if depth < 0:
            break
    inside = "".join(f"    {line}\n" for line in lines if line)
    return f"{head}(\n{inside}{rest[begin:]}"
