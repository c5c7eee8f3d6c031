"""What running a function changes or touches beyond its own variables."""

from __future__ import annotations

from collections.abc import Callable

from forwardbook.analyzers.detail.facts import Detail

Read = Callable[..., Detail]


def test_files_network_processes_and_the_like(read: Read) -> None:
    """Known calls by their full name under any import; the subject is what they touch."""
    found = read("""
        import json, os, random, subprocess, requests, sys
        import numpy as np
        from pathlib import Path
        from torch import save as keep
        logger = None
        def f(path, x):
            open(path)
            open(path, "wb")
            Path(path).open("a")
            Path(path).read_text()
            Path(path).write_text("x")
            np.load("a.npy")
            keep(x, path)
            json.dump(x, path)
            requests.get("u")
            subprocess.run(["ls"])
            random.seed(1)
            print(x)
            logger.info(x)
            input()
            sys.exit(2)
            os.environ["A"] = "b"
            json.dumps(x)
            x.open()
        """).functions[0]
    assert [
        ("file read", 7, "path"),
        ("file write", 8, "path"),
        ("file write", 9, "Path(path)"),
        ("file read", 10, "Path(path)"),
        ("file write", 11, "Path(path)"),
        ("file read", 12, '"a.npy"'),
        ("file write", 13, "x"),
        ("file write", 14, "x"),
        ("network", 15, '"u"'),
        ("process", 16, '["ls"]'),
        ("random state", 17, "1"),
        ("output", 18, "x"),
        ("logging", 19, ""),
        ("input", 20, ""),
        ("exit", 21, "2"),
        ("environment", 22, "os.environ"),
        ("file read", 24, "x"),
    ] == [(each.kind, each.line, each.subject) for each in found.effects]


def test_mutation_is_told_by_whose_state_it_is(read: Read) -> None:
    """Attributes outside creation, arguments, globals; a local or a rebound argument is no effect."""
    found = read("""
        import lib
        TABLE = {}
        count = 0
        class A:
            def __init__(self, x):
                self.x = x
                self.y: int = 0
                x.append(1)
            def set(self, other, items, copy):
                self.x = 1
                self.x.append(2)
                self.x["k"].rows[0] = 3
                del self.y
                other.name = 4
                items[0] = 5
                copy = list(copy)
                copy.append(6)
                local = []
                local.append(7)
                setattr(self, "z", 8)
        def g():
            global count
            count += 1
            TABLE["a"] = 1
            TABLE.update(b=2)
            lib.flag = True
        """)
    init, method, function = found.functions
    assert [("argument", 8, "x")] == [(each.kind, each.line, each.subject) for each in init.effects]
    assert [
        ("attribute", 10, "self.x"),
        ("attribute", 11, "self.x"),
        ("attribute", 12, "self.x"),
        ("attribute", 13, "self.y"),
        ("argument", 14, "other.name"),
        ("argument", 15, "items"),
        ("attribute", 20, "self"),
    ] == [(each.kind, each.line, each.subject) for each in method.effects]
    assert [
        ("global", 23, "count"),
        ("global", 24, "TABLE"),
        ("global", 25, "TABLE"),
        ("global", 26, "lib.flag"),
    ] == [(each.kind, each.line, each.subject) for each in function.effects]


def test_the_modules_own_level_has_effects_too(read: Read) -> None:
    """What importing does; filling one's own table is none, changing another module is."""
    found = read("""
        import warnings, other
        TABLE = {}
        TABLE["a"] = 1
        other.hook = TABLE
        warnings.filterwarnings("ignore")
        class A:
            print("made")
        """).module
    assert [("global", 4), ("environment", 5), ("output", 7)] == [(e.kind, e.line) for e in found.effects]


def test_environment_variables(read: Read) -> None:
    """Reads with their default, required ones, writes, deletions and tests, under any import."""
    found = read("""
        import os
        from os import environ, getenv as get
        NAME = "N"
        def f():
            os.getenv("A")
            get("B", "1")
            environ.get(NAME, default=None)
            os.environ["C"]
            environ["D"] = "2"
            del os.environ["E"]
            environ.setdefault("F", "3")
            environ.pop("G", None)
            return "H" in os.environ
        """).functions[0]
    assert [
        ("A", 5, "read", ""),
        ("B", 6, "read", '"1"'),
        ("NAME", 7, "read", "None"),
        ("C", 8, "required", ""),
        ("D", 9, "write", '"2"'),
        ("E", 10, "delete", ""),
        ("F", 11, "write", '"3"'),
        ("G", 12, "delete", "None"),
        ("H", 13, "test", ""),
    ] == sorted([(e.name, e.line, e.access, e.default) for e in found.environment], key=lambda e: e[1])
