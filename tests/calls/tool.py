"""A class with a method, and a file that uses it."""

from __future__ import annotations

TOOL = """\
    class Tool:
        def use(self): pass
        def copy(self): return self

    class Other:
        def use(self): pass

    def make() -> Tool: ...
    """


def tool(body: str) -> dict[str, str]:
    """A file that uses `Tool`; its own lines begin at line 2."""
    text = (
        "from tool import Tool, Other, make\n" + "\n".join(line[12:] for line in body.splitlines()[1:]) + "\n"
    )
    return {"tool.py": TOOL, "a.py": text}
