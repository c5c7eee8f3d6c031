"""Whatever the bytes are, reading them gives facts or problems and never raises."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.analyzers.detail.docstrings import understood
from forwardbook.analyzers.detail.examples import Examples
from forwardbook.analyzers.detail.facts import Detail
from forwardbook.analyzers.detail.read import detail
from forwardbook.analyzers.detail.terms import terms
from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.python import index_python

SOURCES = sorted((Path(__file__).resolve().parents[2] / "analyzers" / "detail").glob("*.py"))
NASTY = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"# coding: nonsense\nx = 1\n",
    b"print 'x'\n",
    b"def f(:\n",
    b"\xef\xbb\xbfA = 1  # \xe4\n",
    b"x = '\xe4'\n",
    b"A = 1 # c\r\nB = 2\r",
    b"(" * 3000,
    "\U00013480".encode(),  # a letter since Unicode 15, which Python 3.11 does not know
    b"x = " + b"-" * 5000 + b"1\n",
    b"x = " + b"+".join([b"a()"] * 5000) + b"\n",
    b"x = 'a'" + b".b()" * 3000 + b"\n",
    b"A = '" + b"a" * 100_000 + b"'  # long\n",
    b"if a: pass\n" + b"elif b: f()\n" * 3000,
    b"def f(): return f'''{\nx()}'''\n",
    b"@(\nlambda f: f\n)\ndef f(): ...\n",
    b"class A:\n  def __init__(this): this.x = lambda: this\n  @property\n  def p(): ...\n",
    b"match x:\n  case {'a': [*b], **c}: d()\n",
    b'def f():\n    """\xc2\x85Args:\n        x: \xe2\x80\xa8 y"""\n',
    b"import argparse\np = argparse.ArgumentParser(*a, **k)\np.add_argument(*b, **c)\n",
    b"p.add_subparsers().add_parser(d)\np.add_argument_group()\nq = OptionGroup()\n",
    b"import os, typer, fire, click\nos.getenv()\nos.environ.get(*a)\n",
    b"import typer, fire, click\nfire.Fire()\ntyper.run()\nclick.option()\n",
    b"import threading as t, multiprocessing as m\nt.Thread()\nm.get_context()\nm.Process(*a)\n",
    b"open()\nopen(*a)\nx.open(mode)\nsetattr()\nx.to(**k)\n",
    b"async def f():\n  async with a as b, c: yield\n  [await d async for e in f]\n",
    b"lambda: (yield)\n",
    b"del a.b, c[0]\n(a, *b), c.d = e = f\nfor g.h in i: pass\n",
]


def read(data: bytes) -> Detail:
    """The facts of bytes."""
    return detail("p/m.py", data, index_python("p/m.py", data, "p.m"))


@pytest.mark.parametrize("data", NASTY, ids=range(len(NASTY)))
def test_nasty_files_give_facts_or_problems(data: bytes) -> None:
    """Every one is read; one that no parser takes says why."""
    found = read(data)
    assert found.parser != "none" or found.problems
    spans = [*(each.span for each in found.functions), *(each.span for each in found.classes)]
    assert all(1 <= each.start <= each.end for each in spans)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    """Arbitrary bytes never raise."""
    read(data)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="abx:-_ \n\t`()*>.,=ArgsRtunePm\"'", max_size=300))
def test_any_docstring_is_understood(text: str) -> None:
    """Arbitrary prose never raises, nor does a search for terms and examples in it."""
    understood(text)
    terms(FileFacts("a.py", "python", "0", 1, docstring=text))
    Examples({"README.md": text, "tests/test_a.py": text})


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
def test_broken_source_is_read(file: Path) -> None:
    """Real source with lines dropped, doubled, or cut in the middle never raises."""
    chance = random.Random(file.stem)
    lines = file.read_bytes().split(b"\n")
    for _ in range(6):
        kept = [each for each in lines if chance.random() > 0.03]
        at = chance.randrange(len(kept))
        kept[at] = kept[at][: chance.randrange(len(kept[at]) + 1)]
        kept.insert(chance.randrange(len(kept)), chance.choice(kept))
        read(b"\n".join(kept))


def test_facts_are_the_same_every_time() -> None:
    """Two readings of one file are equal."""
    data = SOURCES[0].read_bytes()
    assert read(data) == read(data)
