"""Examples found in tests, documents and docstrings, and made ones."""

from __future__ import annotations

import ast

from forwardbook.analyzers.detail.examples import Examples, made
from forwardbook.analyzers.index.facts import Definition, FileFacts
from forwardbook.analyzers.index.python import index_python

SOURCE = '''
class Tank:
    """Holds.

    >>> Tank(3).level
    3
    """
    def __init__(self, size: int, *, name: str, unit="l"): ...
    def fill(self, amount: float) -> None: ...
    @property
    def level(self): ...
    @classmethod
    def of(cls, path: Path): ...
def pour(tank, amount: int | None, *rest):
    """Pour.

    ```python
    pour(Tank(1), 2)
    ```
    """
    def inner(): ...
async def drain(tank): ...
def drops(tank):
    yield 1
def _hidden(): ...
'''
TEST = """
from lib.tank import Tank
import lib.tank as t

def pour(): ...

def test_long():
    tank = Tank(1, name="a")
    tank.fill(2.0)

def test_short():
    t.drain(t.Tank(2))
"""
README = """
Use `lib`:

```python
from lib import Tank
Tank(5)
```

```python
not python (
```
"""


def facts(text: str = SOURCE) -> FileFacts:
    """The index's facts of the module `lib.tank`."""
    return index_python("lib/tank.py", text.encode(), "lib.tank")


def named(qualname: str) -> tuple[Definition, FileFacts]:
    """A definition and its file."""
    known = facts()
    return next(each for each in known.definitions if each.qualname == qualname), known


EXAMPLES = Examples({"lib/tank.py": SOURCE, "tests/test_tank.py": TEST, "README.md": README})


def test_real_examples_have_their_origin() -> None:
    """One of each kind, the smallest first; the code is the dedented lines of its origin."""
    found = EXAMPLES.of(*named("Tank"))
    assert [
        ("docstring", "lib/tank.py:5-6"),
        ("document", "README.md:5-6"),
        ("test", "tests/test_tank.py:11-12"),
    ] == sorted((each.kind, each.origin) for each in found)
    assert "from lib import Tank\nTank(5)" == next(each.code for each in found if each.kind == "document")
    assert "pycon" == next(each.language for each in found if each.kind == "docstring")


def test_names_are_matched_by_import_not_by_letters() -> None:
    """A test's own function of that name is no example; a module's attribute and a method are."""
    assert ["docstring"] == [each.kind for each in EXAMPLES.of(*named("pour"))]
    assert ["tests/test_tank.py:11-12"] == [each.origin for each in EXAMPLES.of(*named("drain"))]
    assert ["tests/test_tank.py:7-9"] == [each.origin for each in EXAMPLES.of(*named("Tank.fill"))]


def test_an_example_is_made_from_the_signature() -> None:
    """Required parameters get plain values; the result is used as what it is, and all of it parses."""
    expected = {
        "Tank": 'tank = Tank(size=1, name="name")',
        "Tank.fill": 'tank = Tank(size=1, name="name")\ntank.fill(amount=1.0)',
        "Tank.level": 'tank = Tank(size=1, name="name")\nvalue = tank.level',
        "pour": "result = pour(tank=..., amount=None)",
        "drain": "async def main():\n    result = await drain(tank=...)",
        "drops": "for value in drops(tank=...):\n    ...",
    }
    for qualname, code in expected.items():
        (example,) = made(*named(qualname))
        assert code == example.code.partition("\n\n")[2], qualname
        ast.parse(example.code)
        assert "" == example.origin
    (of,) = made(*named("Tank.of"))
    assert 'from pathlib import Path\n\nresult = Tank.of(path=Path("path"))' in of.code


def test_what_cannot_be_called_by_name_has_no_made_example() -> None:
    """A function inside a function."""
    assert () == made(*named("pour.inner"))
