# ruff: noqa: E501  (programs are written as text)
"""Python's constructs mean in interpreted source what they mean in Python."""

from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.static import ClassSource, Interpreter, Unresolved, construct

HEAD = """
from __future__ import annotations
import enum, functools, contextlib, dataclasses, math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from torch import nn
import torch
from .parts import helper, REGISTRY

class Net(nn.Module):
    def forward(self, x):
        return answer(x)

"""
PARTS = """
BASE = 10
REGISTRY = {}
REGISTRY["ten"] = BASE

def helper(value, *, times=2):
    return value * times + BASE
"""
CASES: dict[str, tuple[str, object]] = {
    "star arguments": ("def f(a, *b, c=1, **d): return a, b, c, d\ndef answer(x): return f(1, *[2, 3], c=4, **{'e': 5})",
                       (1, (2, 3), 4, {"e": 5})),
    "closure": ("def outer():\n    n = 0\n    def add():\n        nonlocal n\n        n += 1\n        return n\n    return add\n"
                "def answer(x):\n    f = outer()\n    f()\n    return f()", 2),
    "comprehensions": ("def answer(x): return [i * j for i in range(3) if i for j in range(i)], {k: v for k, v in zip('ab', (1, 2))}",
                       ([0, 0, 2], {"a": 1, "b": 2})),
    "generator": ("def g(n):\n    for i in range(n):\n        sent = yield i\n    return 9\n"
                  "def h():\n    r = yield from g(2)\n    yield r\ndef answer(x): return list(h())", [0, 1, 9]),
    "context manager": ("@contextlib.contextmanager\ndef c(log):\n    log.append('in')\n    try:\n        yield 1\n    finally:\n        log.append('out')\n"
                        "def answer(x):\n    log = []\n    with c(log) as v:\n        log.append(v)\n    return log", ["in", 1, "out"]),
    "wrapped decorator": ("def twice(f):\n    @functools.wraps(f)\n    def w(*a, **k): return 2 * f(*a, **k)\n    return w\n"
                          "@twice\ndef g(a): return a + 1\ndef answer(x): return g(1), g.__name__", (4, "g")),
    "super and properties": ("class A:\n    def __init__(self, n): self.n = n\n    @property\n    def double(self): return 2 * self.n\n"
                             "    @classmethod\n    def make(cls): return cls(3)\nclass B(A):\n    def __init__(self, n): super().__init__(n + 1)\n"
                             "    @property\n    def double(self): return super().double + 1\ndef answer(x): return B.make().double", 9),
    "dataclass": ("@dataclass\nclass D:\n    a: int\n    b: list = field(default_factory=list)\n    def __post_init__(self): self.c = self.a + 1\n"
                  "def answer(x): return D(1).c, D(1) == D(1), D(2, [1]).b", (2, True, [1])),
    "enum": ("class E(enum.Enum):\n    A = 1\n    B = 2\ndef answer(x): return E.B.value, E('B' and 1).name", (2, "A")),
    "match": ("def f(v):\n    match v:\n        case 1 | 2: return 'small'\n        case (a, *b): return b\n        case {'k': k}: return k\n        case _: return None\n"
              "def answer(x): return f(2), f((1, 2, 3)), f({'k': 5}), f(9)", ("small", [2, 3], 5, None)),
    "try": ("def f(v):\n    try:\n        return 1 // v\n    except ZeroDivisionError as e:\n        return type(e).__name__\n    finally:\n        pass\n"
            "def answer(x): return f(0), f(1)", ("ZeroDivisionError", 1)),
    "walrus": ("def answer(x):\n    if (n := 3) > 2:\n        return n, [m := i for i in range(3)], m", (3, [0, 1, 2], 2)),
    "loops": ("def answer(x):\n    out = []\n    for i in range(5):\n        if i == 1: continue\n        if i == 4: break\n        out.append(i)\n"
              "    else:\n        out.append('no')\n    while len(out) < 5:\n        out += [0]\n    return out", [0, 2, 3, 0, 0]),
    "strings": ("def answer(x):\n    n = 3\n    return f'{n:>4}|{n!r}|{{}}|{n=}', '%d' % n, '-'.join(['a', 'b'])",
                ("   3|3|{}|n=3", "3", "a-b")),
    "other file": ("def answer(x): return helper(1, times=3), REGISTRY['ten']", (13, 10)),
    "unpacking": ("def answer(x):\n    a, (b, *c), d = 1, (2, 3, 4), 5\n    return a, b, c, d", (1, 2, [3, 4], 5)),
    "slices": ("def answer(x): return [1, 2, 3, 4][1:-1], tuple(torch.empty(4, 6, 8)[..., :2, None].shape)", ([2, 3], (4, 6, 2, 1))),
    "lambda and partial": ("def answer(x): return sorted([3, 1], key=lambda v: -v), functools.partial(pow, 2)(3)", ([3, 1], 8)),
    "namedtuple": ("P = namedtuple('P', 'a b')\ndef answer(x): return P(1, 2)._replace(a=5).a", 5),
    "private names": ("class A:\n    def __init__(self): self.__n = 4\n    def get(self): return self.__n\ndef answer(x): return A().get()", 4),
    "attribute hook": ("class A:\n    def __getattr__(self, name): return name\ndef answer(x): return A().anything", "anything"),
    "numpy on numbers": ("import numpy as np\ndef answer(x): return np.prod([2, 3]), np.linspace(0, 1, 3).tolist(), list(np.arange(2)), np.sqrt(4), np.log2(8)",
                         (6, [0.0, 0.5, 1.0], [0, 1], 2.0, 3.0)),
    "sums of numpy": ("import numpy as np\ndef answer(x): return (np.cumsum([1, 2, 7]) - 1).tolist(), list(np.cumsum((2, 3)) + 1)",
        ([0, 2, 9], [3, 6])),
    "new axis of numpy": ("import numpy as np\ndef answer(x): return torch.zeros(3)[:, np.newaxis].shape", (3, 1)),
    "types of numpy": ("import numpy as np\ndef answer(x): return isinstance(x, np.ndarray), isinstance(np.arange(2), (np.ndarray, np.generic)), isinstance(1, np.integer)",
                       (False, True, False)),
    "tensor of numpy": ("import numpy as np\ndef answer(x): return torch.Tensor(np.linspace(0, 1, 4)).shape", (4,)),
    "json": ("import json\ndef answer(x): return json.loads(json.dumps({'a': [1, None]}, sort_keys=True))", {"a": [1, None]}),
    "attribute of a mapping": ("def answer(x):\n    d = OrderedDict(a=1)\n    d.back = 2\n    return d, d.back", ({"a": 1}, 2)),
    "module containers": ("class Inner(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.items = nn.ModuleList([nn.ReLU() for _ in range(2)])\n"
                          "        self.register_buffer('b', torch.ones(3))\n        self.w = nn.Parameter(torch.ones(2))\n"
                          "def answer(x): return [n for n, _ in Inner().named_modules()], len(list(Inner().parameters()))",
                          (["", "items", "items.0", "items.1"], 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_meaning(name: str, tmp_path: Path) -> None:
    """The value of the construct is Python's."""
    text, expected = CASES[name]
    folder = tmp_path / f"language_{abs(hash(name))}"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "parts.py").write_text(PARTS)
    (folder / "net.py").write_text(HEAD + text)
    module = construct(ClassSource("Net", folder / "net.py"))
    assert module.call(torch.empty(1, device="meta")) == expected


def test_error_is_placed(tmp_path: Path) -> None:
    """An error that the source raises says its type and at which line, and no word that the source made."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.nothing\n"
    )
    with pytest.raises(Unresolved, match="AttributeError") as stopped:
        construct(ClassSource("Net", tmp_path / "net.py")).call(torch.empty(1, device="meta"))
    assert stopped.value.line == 5


def test_budget_ends_a_loop(tmp_path: Path) -> None:
    """A loop without end stops at the budget."""
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        while True:\n            x = 1\n"
    )
    module = construct(ClassSource("Net", tmp_path / "net.py"), interpreter=Interpreter(most_steps=1000))
    with pytest.raises(Unresolved, match="1000 steps"):
        module.call(1)
