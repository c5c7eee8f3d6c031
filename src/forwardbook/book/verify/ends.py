"""The participants of a diagram in, what each of them means in the sources out."""

from __future__ import annotations

from forwardbook.book.mermaid.reading import Diagram, plain_text
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.edges import End
from forwardbook.book.verify.names import clean


class Ends:
    """What the participants of a diagram mean."""

    def __init__(self, diagram: Diagram, context: Context, near: tuple[str, ...]) -> None:
        self.diagram, self.context, self.near = diagram, context, near
        self._found: dict[str, End] = {}
        self.labels = {one.name: one.label for one in reversed(diagram.participants)}

    def __getitem__(self, name: str) -> End:
        if name not in self._found:
            self._found[name] = self._end(name)
        return self._found[name]

    def _end(self, name: str) -> End:
        label = plain_text(self.labels.get(name, name)).strip("\"'")
        lines = [line.strip().strip("`") for line in label.split("\n") if line.strip()]
        names = self.context.names
        files = tuple(
            path for line in lines[1:] for path in names.files_named(line.partition(":")[0].strip("()"))
        )
        for line in [*lines, label.replace("\n", "")]:
            if targets := names.targets(line, tuple(dict.fromkeys([*files, *self.near]))):
                return End(clean(line), targets)
        return End(clean(lines[0]) if lines else name, ())
