"""What is wrong with a profiler's file: one family of errors, each naming file, line and what to do next."""

from __future__ import annotations

from forwardbook.errors import ForwardbookError


class ReportUnreadable(ForwardbookError):
    """A file that is none of the known kinds, is cut off, or whose numbers cannot be read without doubt."""

    def __init__(self, file: str, found: str, next_step: str = "", line: int = 0) -> None:
        where = f"{file}:{line}" if line else file
        super().__init__(f"reading {where}: {found}" + (f"\n  {next_step}" if next_step else ""))


class NothingCaptured(ForwardbookError):
    """A report that holds no event of the kind asked for; the message repeats what the tool said of it."""

    def __init__(self, file: str, wanted: str, said: tuple[str, ...] = (), next_step: str = "") -> None:
        lines = [f"reading {file}: it holds no {wanted}"]
        lines += [f"  the tool said: {one[:200]}" for one in said[:5]]
        lines += [f"  {next_step}"] if next_step else []
        super().__init__("\n".join(lines))
