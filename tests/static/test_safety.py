# ruff: noqa: E501  (programs are written as text)
"""Source that tries to act on the machine is refused before anything happens."""

from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.static import ClassSource, Interpreter, Unresolved, construct

HEAD = "import os, sys, torch, math, functools, operator\nfrom torch import nn\nimport torch.nn.functional as F\n"
NET = """
class Net(nn.Module):
    def forward(self, x):
        {body}
        return x
"""

ATTACKS = {
    "os.system": "os.system('touch {mark}')",
    "getattr of os": "getattr(os, 'sys' + 'tem')('touch {mark}')",
    "open": "open('{mark}', 'w').write('x')",
    "eval": 'eval(\'__import__("os").system("touch {mark}")\')',
    "exec": "exec('import os')",
    "import inside": "import subprocess; subprocess.run(['touch', '{mark}'])",
    "__import__": "__import__('os').system('touch {mark}')",
    "builtins": "__builtins__['open']('{mark}', 'w')",
    "module of a module": "torch.os.system('touch {mark}')",
    "module of a trusted module": "F.importlib.import_module('os').system('touch {mark}')",
    "globals of a function": "F.relu.__globals__['importlib'].import_module('os').system('touch {mark}')",
    "globals by getattr": "getattr(F.relu, '__glo' + 'bals__')",
    "globals by hasattr": "hasattr(F.relu, '__globals__')",
    "subclasses": "().__class__.__base__.__subclasses__()",
    "subclasses of object": "object.__subclasses__()",
    "class of a value": "(1).__class__",
    "mro of a type": "int.__mro__",
    "code of own function": "self.forward.__func__.__closure__",
    "function globals of own": "self.forward.__func__.__globals__",
    "self of a builtin": "len.__self__",
    "attrgetter": "operator.attrgetter('__globals__')(F.relu)",
    "object getattribute": "object.__getattribute__(F.relu, '__globals__')",
    "partial getattribute": "functools.partial(object.__getattribute__, F.relu)('__globals__')",
    "super getattribute": "super().__getattribute__('__globals__')",
    "map getattr": "list(map(getattr, [F.relu], ['__globals__']))",
    "reduce getattr": "functools.reduce(getattr, [F.relu, '__globals__'])",
    "torch.load": "torch.load('{mark}')",
    "torch.save": "torch.save(x, '{mark}')",
    "torch.hub": "torch.hub.load('a/b', 'c')",
    "torch.ops.load_library": "torch.ops.load_library('{mark}')",
    "cpp_extension": "import torch.utils.cpp_extension as c; c.load('x', ['y'])",
    "torch.jit": "torch.jit.load('{mark}')",
    "torch.jit.script": "torch.jit.script(self)",
    "torch.compile": "torch.compile(self)",
    "module compile": "self.compile()",
    "torch.package": "torch.package.PackageExporter('{mark}')",
    "torch.serialization": "torch.serialization.save(x, '{mark}')",
    "torch.distributed": "torch.distributed.init_process_group()",
    "torch.from_file": "torch.from_file('{mark}', shared=True, size=10)",
    "tensor from_file": "torch.UntypedStorage.from_file('{mark}', True, 10)",
    "numpy tofile": "torch.zeros(2, device='cpu').numpy().tofile('{mark}')",
    "storage": "torch.zeros(2, device='cpu').untyped_storage()._write_file(1, True, True, 4)",
    "patching torch": "torch.nn.functional.relu = None",
    "patching a class": "nn.Module.attacked = lambda self: None",
    "setattr on torch": "setattr(torch, 'attacked', 1)",
    "default dtype": "torch.set_default_dtype(torch.float64)",
    "numpy": "import numpy; numpy.save('{mark}', [1])",
    "numpy load": "import numpy; numpy.load('{mark}')",
    "numpy array": "import numpy; numpy.array([1]).tofile('{mark}')",
    "numpy array of addresses": "import numpy; numpy.ndarray((1,), dtype=object, buffer=bytes(8))",
    "type of a numpy row": "import numpy; type(numpy.arange(2)).__mro__",
    "numpy row patched": "import numpy; type(numpy.arange(2)).attacked = 1",
    "numpy array patched": "import numpy; numpy.ndarray.attacked = 1",
    "map of numpy array": "import numpy; list(map(numpy.ndarray, [(1,)]))",
    "sum of numpy rows": "import numpy; numpy.arange(2) + numpy.arange(2)",
    "multiple of a numpy row": "import numpy; 2 * numpy.arange(2)",
    "comparison of numpy rows": "import numpy; numpy.arange(2) == 1",
    "numpy patched": "import numpy; numpy.attacked = 1",
    "numpy callback": "import numpy; numpy.frompyfunc(len, 1, 1)",
    "numpy submodule": "import numpy.ctypeslib as c; c.load_library('x', '{mark}')",
    "huge array": "import numpy; numpy.linspace(0, 1, 10 ** 12)",
    "huge arange": "import numpy; numpy.arange(10 ** 12)",
    "json file": "import json; json.dump([1], '{mark}')",
    "pickle": "import pickle; pickle.dumps(x)",
    "ctypes": "import ctypes; ctypes.CDLL(None)",
    "formatter": "import string; string.Formatter().get_field('0.__globals__', (F.relu,), dict())",
    "type hints": "import typing; typing.get_type_hints.__globals__",
    "forward reference": "import typing; typing.ForwardRef('print(1)')._evaluate(dict(), dict(), frozenset())",
    "made class": "type('A', (), dict(x=1))",
    "generator frame": "(a for a in [1]).gi_frame.f_builtins",
    "traceback": "\n        try:\n            1 / 0\n        except Exception as e:\n            e.__traceback__.tb_frame",
    "profiler": "torch.autograd.profiler.profile().export_chrome_trace('{mark}')",
    "cuda memory": "torch.cuda.memory._dump_snapshot('{mark}')",
    "sys.modules": "sys.modules['os'].system('touch {mark}')",
    "vars of torch": "vars(torch)['os']",
    "huge power": "9 ** 9 ** 9",
    "huge list": "[0] * 10 ** 12",
    "huge range": "list(range(10 ** 12))",
    "endless loop": "\n        while True:\n            pass",
    "endless recursion": "self.forward(x)",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_refused_in_forward(name: str, tmp_path: Path) -> None:
    """Each attempt within forward() ends as Unresolved with its line, and leaves no trace."""
    mark = tmp_path / "mark"
    body = ATTACKS[name].replace("{mark}", str(mark))
    file = tmp_path / "net.py"
    file.write_text(HEAD + NET.replace("{body}", body))
    module = construct(ClassSource("Net", file), interpreter=Interpreter(most_steps=20_000))
    with pytest.raises(Unresolved) as stopped:
        module.call(torch.empty(2, device="meta"))
    assert (mark.exists(), stopped.value.file, stopped.value.line > 4) == (False, str(file), True)
    assert not hasattr(torch, "attacked") and not hasattr(torch.nn.Module, "attacked")
    assert torch.get_default_dtype() is torch.float32


@pytest.mark.parametrize("place", ["module", "class", "default", "decorator"])
def test_nothing_runs_outside_forward(place: str, tmp_path: Path) -> None:
    """A command at the top of a module never runs; in a class body, default or decorator it is refused."""
    mark = tmp_path / "mark"
    command = f"os.system('touch {mark}')"
    texts = {
        "module": HEAD + command + NET.replace("{body}", "pass"),
        "class": HEAD + NET.replace("{body}", "pass") + f"    {command}\n",
        "default": HEAD + NET.replace("{body}", "pass").replace("(self, x)", f"(self, x, y={command})"),
        "decorator": HEAD + NET.replace("{body}", "pass").replace("    def", f"    @{command}\n    def"),
    }
    file = tmp_path / "net.py"
    file.write_text(texts[place])
    if place == "module":
        construct(ClassSource("Net", file))
    else:
        with pytest.raises(Unresolved):
            construct(ClassSource("Net", file))
    assert not mark.exists()


def test_except_does_not_catch_what_is_unresolved(tmp_path: Path) -> None:
    """Source cannot hide a refusal behind `except`."""
    file = tmp_path / "net.py"
    body = "\n        try:\n            os.system('true')\n        except BaseException:\n            pass"
    file.write_text(HEAD + NET.replace("{body}", body))
    module = construct(ClassSource("Net", file))
    with pytest.raises(Unresolved, match="os.system|not"):
        module.call(torch.empty(2, device="meta"))


def test_field_names_are_never_source(tmp_path: Path) -> None:
    """A dataclass field whose name is code is refused."""
    file = tmp_path / "net.py"
    text = "from dataclasses import dataclass\nfrom torch import nn\n\nclass A:\n    x: int = 1\n"
    text += "A.__annotations__ = {'y: print(1)': int}\nB = dataclass(A)\n"
    text += "\nclass Net(nn.Module):\n    made = B\n    def forward(self, x):\n        return x\n"
    file.write_text(text)
    with pytest.raises(Unresolved, match="field"):
        construct(ClassSource("Net", file))
