"""Design patterns, each with the smallest code that follows it and code that only looks like it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forwardbook.analyzers.detail.facts import Detail

Read = Callable[..., Detail]


FOLLOWED = [
    (
        "registry",
        "TABLE",
        (1, 4, 7),
        "TABLE = {}\ndef register(name):\n    def mark(f):\n        TABLE[name] = f\n        return f\n"
        "    return mark\ndef find(name): return TABLE[name]\n",
    ),
    ("registry", "A.register", (1,), "@A.register('x')\nclass B: ...\n"),
    (
        "producer-consumer",
        "q",
        (2, 4, 6),
        "import queue\nq = queue.Queue()\ndef a():\n    q.put(1)\ndef b():\n    return q.get()\n",
    ),
    (
        "context manager",
        "A",
        (2, 3),
        "class A:\n    def __enter__(self): ...\n    def __exit__(self, *a): ...\n",
    ),
    (
        "context manager",
        "f",
        (2, 4),
        "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield 1\n",
    ),
    (
        "factory",
        "make",
        (5, 6),
        "class A: ...\nclass B: ...\ndef make(x):\n    if x:\n        return A()\n    return B()\n",
    ),
    (
        "factory",
        "A.of",
        (3, 4),
        "class A:\n    @classmethod\n    def of(cls, x):\n        return cls(x)\n",
    ),
    (
        "visitor",
        "A",
        (2, 3),
        "class A:\n    def visit_Name(self, n): ...\n    def visit_Call(self, n): ...\n",
    ),
    (
        "singleton",
        "A",
        (3, 5),
        "class A:\n    _instance = None\n    def __new__(cls):\n        if cls._instance is None:\n"
        "            cls._instance = super().__new__(cls)\n        return cls._instance\n",
    ),
    ("iterator", "A", (2, 3), "class A:\n    def __iter__(self): ...\n    def __next__(self): ...\n"),
    (
        "observer",
        "A",
        (5, 7, 8),
        "class A:\n    def __init__(self):\n        self.hooks = []\n    def subscribe(self, hook):\n"
        "        self.hooks.append(hook)\n    def fire(self, x):\n        for hook in self.hooks:\n"
        "            hook(x)\n",
    ),
    (
        "decorator",
        "twice",
        (2, 3, 4),
        "def twice(f):\n    def inner(x):\n        return f(f(x))\n    return inner\n",
    ),
    (
        "strategy",
        "HOW",
        (3, 5),
        "def a(x): ...\ndef b(x): ...\nHOW = {'a': a, 'b': b}\ndef run(how, x):\n    return HOW[how](x)\n",
    ),
    ("mixin", "RunMixin", (1,), "class RunMixin: ...\n"),
    (
        "template method",
        "A.run",
        (3, 4),
        "class A:\n    def run(self):\n        self.step()\n    def step(self):\n"
        "        raise NotImplementedError\n",
    ),
    ("memoisation", "f", (2,), "import functools\n@functools.cache\ndef f(): ...\n"),
    (
        "proxy",
        "A",
        (2, 3),
        "class A:\n    def __getattr__(self, name):\n        return getattr(self.inner, name)\n",
    ),
    ("monkey patch", "lib.f", (2,), "import lib\nlib.f = lambda: 1\n"),
    (
        "plug-in",
        "load",
        (3,),
        "import importlib\ndef load(name):\n    return importlib.import_module(name)\n",
    ),
]


@pytest.mark.parametrize(("name", "subject", "lines", "text"), FOLLOWED)
def test_a_pattern_is_recognised_with_its_evidence(
    read: Read, name: str, subject: str, lines: tuple[int, ...], text: str
) -> None:
    """The pattern, who plays it, and the lines that show it."""
    found = [each for each in read(text).patterns if each.name == name]
    assert [(subject, lines)] == [(each.subject, tuple(e.line for e in each.evidence)) for each in found]


NOT_FOLLOWED = [
    "class A:\n    def __enter__(self): ...\n",
    "TABLE = {}\nTABLE['a'] = 1\ndef f(): return TABLE['a']\n",
    "def f():\n    def g(x): ...\n    return g\n",
    "def make(): return 3\n",
    "class A:\n    def add(self, x):\n        self.items.append(x)\n    def all(self):\n"
    "        for x in self.items:\n            print(x)\n",
    "class A:\n    def visit_Name(self, n): ...\n",
    "cache = {}\ndef f(x):\n    cache[x] = 1\n    return cache[x]\n",
    "import lib\nlib.debug = True\n",
    "class A:\n    def run(self):\n        self.step()\n    def step(self):\n        return 1\n",
    "q.put(1)\n",
]


@pytest.mark.parametrize("text", NOT_FOLLOWED)
def test_what_only_looks_like_a_pattern_is_none(read: Read, text: str) -> None:
    """Half a pattern is not recognised."""
    assert () == read(text).patterns
