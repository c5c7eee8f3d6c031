"""Twenty files and more that no reader likes, written into a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

TEXTS = {
    "syntax_error.py": "def good():\n    return 1\n\n\ndef broken(:\n    pass\n\n\nclass After:\n    pass\n",
    "python2.py": "import os\n\n\ndef old():\n    print 'x'\n    raise ValueError, 'y'\n",
    "cycle_a.py": "from cycle_b import b\n\n\ndef a():\n    return b()\n",
    "cycle_b.py": "import cycle_a\n\n\ndef b():\n    return cycle_a.a()\n",
    "empty.py": "",
    "newer.py": "type Pair[T = int] = tuple[T, T]\n\n\ndef f[T](x: T) -> T:\n    try:\n"
    "        return t'{x}'\n    except ValueError, TypeError:\n        return x\n",
    "markup.py": '"""# Heading\n\n<script>alert(1)</script> --> `x` | [a](b) $x$ {% raw %}\n---\n```mermaid\n'
    'graph TD; A-->B; click A "javascript:alert(1)"\n```\n%%{init: {}}%%\n"""\n\n\n'
    'def end(loop=";", alt="#x; :"):\n    """`Nowhere.member` calls `absent()`, <b>bold</b>."""\n',
    "crlf.py": 'def lines():\r\n    """Windows."""\r\n    return 1\r\n',
    "tabs.py": "def f():\n\tif True:\n\t\treturn 1\n        return 2\n",
    "deep.py": f"x = {'(' * 900}1{')' * 900}\ny = {'-' * 5000}1\nz = {'a.' * 3000}b\n",
    "star.py": "from star import *\nfrom missing_package.deep import *\n\n__all__ = ['nowhere', *dir()]\n",
    "shadow.py": "def f(): pass\ndef f(x): pass\nclass f:\n    def f(self): return f\nf = f\nlambda: f()\n",
    "unclosed.cpp": "namespace a { class B { void c() { if (1) { ",
    "broken.cu": "#define RUN(k) k<<<1, 2>>>();\n__global__ void fill(float* x) { x[0] = 1; }\n"
    "void go(float* x) { RUN(fill) fill<<<dim3(1), 32, 0, 0>>>(x); }\n}}}",
    "notebook.ipynb": json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n"]},
                {
                    "cell_type": "code",
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                    "source": ["%matplotlib inline\n", "def cell():\n", "    return 1\n"],
                },
            ],
        }
    ),
    "broken.ipynb": '{"cells": [{"cell_type": "code", "source": 3}',
    "broken.toml": "a = [1, 2\n[b\n",
    "broken.yaml": "a: [1, 2\n b: : c\n",
    "broken.json": '{"a": [1, 2,, }',
    "name with `ticks` | and [x](y).py": "def named():\n    return 1\n",
}
BYTES = {
    "latin1.py": "def caf\xe9():\n    return '\xfc'\n".encode("latin-1"),
    "latin1_said.py": "# coding: latin-1\nname = '\xe9'\n\n\ndef said(): return name\n".encode("latin-1"),
    "nul.py": b"x = 1\n\0\0\0\ndef after():\n    return 1\n",
    "utf16.py": "def wide():\n    return 1\n".encode("utf-16"),
    "long_line.py": b"x = [" + b"1, " * 1_000_000 + b"]\n",
    "binary.py": bytes(range(256)) * 8,
}
NAMED = (
    "syntax_error.py",
    "python2.py",
    "latin1.py",
    "nul.py",
    "loop",
    "broken.ipynb",
    "broken.toml",
    "broken.json",
)
"""What must be named among what could not be read."""


def write_nasty(folder: Path) -> None:
    """Write the files, a link to the folder itself, a link to nowhere, a pipe and a file nobody may read."""
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text.encode())
    for name, data in BYTES.items():
        (folder / name).write_bytes(data)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "nowhere.py").symlink_to(folder / "absent.py")
    (folder / "itself.py").symlink_to(folder / "itself.py")
    os.mkfifo(folder / "pipe.py")
    secret = folder / "secret.py"
    secret.write_text("password = 'x'\n")
    secret.chmod(0)
