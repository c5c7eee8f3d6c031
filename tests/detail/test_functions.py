"""What a function takes, gives, raises, catches, checks and cleans up."""

from __future__ import annotations

from collections.abc import Callable

from forwardbook.analyzers.detail.facts import Cleanup, Detail, Line, Span

Read = Callable[..., Detail]


RAISING = """
def load(path, mode):
    '''Load it.

    Raises:
        OSError: if the disk fails.
        KeyError: if it is unknown.
    '''
    if mode not in MODES:
        raise ValueError("bad mode")
    elif mode == "x":
        raise KeyError(mode)
    else:
        raise RuntimeError
    try:
        open(path)
    except OSError as error:
        raise
    except (TypeError, LookupError) as other:
        raise Wrapped() from other
    match mode:
        case "a" if path:
            raise E
"""


def test_a_raise_has_its_condition_and_the_docstrings_words(read: Read) -> None:
    """Each raise stands with the nearest branch; what only the docstring names has no line."""
    found = read(RAISING).functions[0].raises
    assert [
        (9, "ValueError", "mode not in MODES", '"bad mode"', ""),
        (11, "KeyError", 'mode == "x"', "mode", "if it is unknown."),
        (13, "RuntimeError", 'not (mode == "x")', "", ""),
        (17, "", "except OSError", "", ""),
        (19, "Wrapped", "except (TypeError, LookupError)", "", ""),
        (22, "E", 'match mode: case "a" if path', "", ""),
        (0, "OSError", "", "", "if the disk fails."),
    ] == [(each.line, each.exception, each.condition, each.message, each.meaning) for each in found]


def test_what_happens_after_an_exception(read: Read) -> None:
    """Each kind of handler has its outcome, the lines it guards and the statement that decides."""
    found = read("""
        import contextlib
        import logging
        import sys
        def f():
            for x in y:
                try:
                    a()
                    b()
                except A:
                    pass
                except (B, C) as e:
                    log(e)
                    raise
                except D as e:
                    raise e
                except E:
                    raise F("g") from None
                except G:
                    return 3
                except H:
                    continue
                except I:
                    sys.exit(1)
                except J as e:
                    logging.warning(e)
                except K:
                    x = None
                except:
                    ...
            with contextlib.suppress(OSError, KeyError):
                c()
        """).functions[0]
    assert [
        (9, ("A",), "ignored", "pass"),
        (11, ("B", "C"), "re-raised", "raise"),
        (14, ("D",), "re-raised", "raise e"),
        (16, ("E",), "replaced", 'raise F("g") from None'),
        (18, ("G",), "returned", "return 3"),
        (20, ("H",), "skipped", "continue"),
        (22, ("I",), "exits", "sys.exit(1)"),
        (24, ("J",), "logged", "logging.warning(e)"),
        (26, ("K",), "fallback", "x = None"),
        (28, (), "ignored", "..."),
        (30, ("OSError", "KeyError"), "ignored", "contextlib.suppress(OSError, KeyError)"),
    ] == [(each.line, each.exceptions, each.outcome, each.text) for each in found.caught]
    assert {Span(7, 8), Span(31, 31)} == {each.guarded for each in found.caught}


def test_validation_is_told_from_other_branches(read: Read) -> None:
    """Assertions, branches that end in a raise, and calls named for it are checks; other branches are not."""
    found = read("""
        def f(x):
            assert x, "no x"
            if x < 0:
                raise ValueError(x)
            if x > 3:
                x = 3
            validate_range(x)
            self._check(x)
            checked(x)
        """).functions[0]
    assert [
        (2, "assert", "x", '"no x"'),
        (3, "raise", "x < 0", "raise ValueError(x)"),
        (7, "call", "validate_range(x)", ""),
        (8, "call", "self._check(x)", ""),
    ] == [(each.line, each.kind, each.condition, each.consequence) for each in found.checks]


def test_cleanup_is_what_runs_however_the_code_ends(read: Read) -> None:
    """`finally`, `with`, exit hooks and closing calls, in source order."""
    found = read("""
        import atexit, weakref
        class A:
            def __exit__(self, *args):
                self.file.close()
            def run(self):
                atexit.register(self.stop)
                weakref.finalize(self, print)
                with open("x") as f, lock:
                    pass
                try:
                    a()
                finally:
                    b()
                    c()
        """)
    assert [Cleanup(3, "__exit__", "A.__exit__()"), Cleanup(4, "close", "self.file.close()")] == list(
        found.functions[0].cleanups
    )
    assert [
        (6, "atexit", "atexit.register(self.stop)"),
        (7, "finalizer", "weakref.finalize(self, print)"),
        (8, "with", 'open("x")'),
        (8, "with", "lock"),
        (13, "finally", "b(); c()"),
    ] == [(each.line, each.kind, each.text) for each in found.functions[1].cleanups]


def test_a_signature_is_the_text_as_written(read: Read) -> None:
    """Line breaks, comments and odd spaces stay; only the indentation goes."""
    found = read("""
        class A(B , metaclass = M):
            @staticmethod
            def f( a, /, b : "x:y" = {1: 2},  # first
                   *c: int, d=lambda x: x, **e
                   ) -> dict[str, int] : return 1
        """)
    assert "class A(B , metaclass = M)" == found.classes[0].signature
    assert (
        'def f( a, /, b : "x:y" = {1: 2},  # first\n'
        "       *c: int, d=lambda x: x, **e\n"
        "       ) -> dict[str, int]" == found.functions[0].signature
    )
    assert "static method" == found.functions[0].kind
    assert [("a", "/", "", ""), ("b", "", '"x:y"', "{1: 2}"), ("c", "*", "int", "")] + [
        ("d", "keyword", "", "lambda x: x"),
        ("e", "**", "", ""),
    ] == [(p.name, p.kind, p.annotation, p.default) for p in found.functions[0].parameters]


def test_returns_and_yields_stand_with_their_lines(read: Read) -> None:
    """Every `return` and `yield` of the function itself, none of an inner one or a lambda."""
    found = read("""
        def f(x) -> int:
            '''Do it.

            Returns:
                int: the number.
            '''
            def g():
                return 9
            if x:
                return x + 1
            y = lambda: (yield 5)
            return
        def h():
            yield 1
            yield from f(2)
        """)
    outer, inner, generator = found.functions
    assert ("int", "the number.", "int") == (
        outer.returns.annotation,
        outer.returns.meaning,
        outer.returns.documented_type,
    )
    assert (Line(10, "x + 1"), Line(12, "")) == outer.returns.values
    assert not outer.is_generator and (Line(8, "9"),) == inner.returns.values
    assert generator.is_generator and (Line(14, "1"), Line(15, "from f(2)")) == generator.returns.yields


def test_decorators_tell_their_effect(read: Read) -> None:
    """Known decorators are explained under any import; unknown ones are only quoted."""
    found = read("""
        import functools as ft
        from dataclasses import dataclass
        from contextlib import contextmanager
        import torch
        @dataclass(frozen=True, slots=True)
        class A:
            @property
            def p(self): ...
            @p.setter
            def p(self, v): ...
            @ft.lru_cache(maxsize=None)
            def q(self): ...
            @torch.no_grad()
            @mine
            def r(self): ...
        """)
    marks = [*found.classes[0].decorators, *(mark for each in found.functions for mark in each.decorators)]
    effects = {each.text: each.effect for each in marks}
    assert effects["dataclass(frozen=True, slots=True)"].endswith(
        "; the object is immutable; with `__slots__`"
    )
    assert "read like an attribute, computed on each access" == effects["property"]
    assert "called when the property is assigned" == effects["p.setter"]
    assert effects["ft.lru_cache(maxsize=None)"].endswith("; without limit")
    assert "runs without recording gradients" == effects["torch.no_grad()"]
    assert "" == effects["mine"]
    assert ["property", "property", "method", "method"] == [each.kind for each in found.functions]


def test_special_methods_say_what_calls_them(read: Read) -> None:
    """The syntax behind a special method; nothing for a name Python does not know."""
    found = read("""
        class A:
            def __len__(self): ...
            def __radd__(self, x): ...
            def __imatmul__(self, x): ...
            def __and__(self, x): ...
            def __mine__(self): ...
        def __len__(x): ...
        """)
    assert [
        "`len(x)`, and truth where there is no `__bool__`",
        "`y + x`",
        "`x @= y`",
        "`x & y`",
        "",
        "",
    ] == [each.magic for each in found.functions]
    assert ["__len__", "__radd__", "__imatmul__", "__and__"] == [
        name for name, _, _ in found.classes[0].magic
    ]
