"""Lines that a hostile class could run, by name: network, secrets, processes that stay, files of others.

Names in capitals stand for what the trial puts there. Each is put into a module, a constructor or forward().
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from forwardbook.pipeline.child.request import Request, Response

PLACES: Final = ("module", "constructor", "forward")
_FRAME: Final = """\
import asyncio, contextlib, ctypes, logging, os, pathlib, re, shutil, signal, socket, sqlite3, subprocess, sys
import threading, time, urllib.request, warnings
import torch

libc = ctypes.CDLL(None)
refused = []
ENV = {{"PATH": os.environ.get("PATH", "/usr/bin:/bin")}}


def attack():
{attack}


def quietly():
    try:
        attack()
    except Exception as error:
        refused.append(type(error).__name__)

{module}

class Hostile(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 8)
        {constructor}

    def forward(self, x):
        {forward}
        return self.fc(x)
"""
_TELLS: Final = "TELL_"  # attacks that raise what they found; the others go on

_CONNECT: Final = "import socket; s = socket.socket(); s.settimeout(2); s.connect(('127.0.0.1', PORT))"
_SEND: Final = (
    "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))"
)
_LEAVE: Final = (
    "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(MARK)"
)

NETWORK: Final = {
    "tcp": "socket.create_connection(('127.0.0.1', PORT), 2)",
    "tcp_raw": "socket.socket().connect(('127.0.0.1', PORT))",
    "tcp_ex": "socket.socket().connect_ex(('127.0.0.1', PORT))",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "udp_sendmsg": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('127.0.0.1', PORT))"
    ),
    "udp_v6": ("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('::ffff:127.0.0.1', PORT))"),
    "unix": "socket.socket(socket.AF_UNIX).connect('UNIX')",
    "unix_abstract": "socket.socket(socket.AF_UNIX).connect('\\0' + 'ABSTRACT')",
    "unix_link": "os.symlink('UNIX', 'near'); socket.socket(socket.AF_UNIX).connect('near')",
    "urllib": "urllib.request.urlopen('http://127.0.0.1:PORT/', timeout=2)",
    "asyncio": "asyncio.run(asyncio.open_connection('127.0.0.1', PORT))",
    "thread": "t = threading.Thread(target=socket.create_connection, args=(('127.0.0.1', PORT), 2))\n"
    "t.start(); t.join()",
    "program": f"subprocess.run([sys.executable, '-c', {_CONNECT!r}], timeout=20)",
    "program_udp": f"subprocess.run([sys.executable, '-c', {_SEND!r}], timeout=20)",
    "program_clean": f"subprocess.run([sys.executable, '-S', '-c', {_CONNECT!r}], env={{}}, timeout=20)",
    "program_unix": (
        "subprocess.run([sys.executable, '-c', \"import socket; socket.socket(1).connect('UNIX')\"])"
    ),
    "program_abstract": (
        "subprocess.run([sys.executable, '-c', "
        "\"import socket; socket.socket(1).connect(chr(0) + 'ABSTRACT')\"])"
    ),
    "bash": (
        "subprocess.run(['bash', '-c', 'echo x > /dev/tcp/127.0.0.1/PORT; echo x > /dev/udp/127.0.0.1/PORT'])"
    ),
    "native_tcp": (
        "s = libc.socket(2, 1, 0)\n"
        "a = (2).to_bytes(2, 'little') + (PORT).to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8)\n"
        "libc.connect(s, a, 16)"
    ),
    "native_udp": (
        "s = libc.socket(2, 2, 0)\n"
        "a = (2).to_bytes(2, 'little') + (PORT).to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8)\n"
        "libc.sendto(s, b'x', 1, 0, a, 16)"
    ),
    "native_unix": (
        "s = libc.socket(1, 1, 0)\na = (1).to_bytes(2, 'little') + b'UNIX' + bytes(1)\n"
        "libc.connect(s, a, len(a))"
    ),
    "native_other_namespace": (
        "f = os.open('/proc/PARENT/ns/net', os.O_RDONLY); libc.setns(f, 0)\n"
        "s = libc.socket(2, 1, 0)\n"
        "a = (2).to_bytes(2, 'little') + (PORT).to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + bytes(8)\n"
        "libc.connect(s, a, 16)"
    ),
    "uncover": (
        "libc.umount2(b'UNIX', 2); libc.mount(b'x', b'UNIX', 0, 32, 0)\n"
        "s = libc.socket(1, 1, 0)\na = (1).to_bytes(2, 'little') + b'UNIX' + bytes(1)\n"
        "libc.connect(s, a, len(a))"
    ),
}
SECRETS: Final = {
    "TELL_environ": "raise RuntimeError(os.environ['SECRET'])",
    "TELL_getenv": "libc.getenv.restype = ctypes.c_char_p\nraise ValueError(libc.getenv(b'SECRET'))",
    "TELL_program": "raise ValueError(subprocess.run(['env'], capture_output=True, text=True).stdout)",
    "TELL_parent": "raise ValueError(open('/proc/PARENT/environ').read())",
    "TELL_first": "raise ValueError(re.findall('SECRET=[^\\0]*', open('/proc/1/environ').read()))",
    "TELL_every": (
        "said = ''\nfor p in pathlib.Path('/proc').glob('[0-9]*/environ'):\n"
        "    with contextlib.suppress(OSError):\n        said += p.read_text(errors='replace')\n"
        "raise ValueError(re.findall('SECRET=[^\\0]*', said))"
    ),
    "TELL_exit": "sys.exit(str(dict(os.environ)))",
    "TELL_type": "raise type(os.environ.get('SECRET', 'Nothing'), (Exception,), {})",
    "TELL_syntax": "raise SyntaxError('no', (os.environ.get('SECRET', 'f'), 1, 1, 'x'))",
    "TELL_note": "e = ValueError('x'); e.add_note(str(dict(os.environ))); raise e",
    "TELL_compiled": "exec(compile('raise ValueError', str(dict(os.environ)), 'exec'))",
    "print": "print(dict(os.environ)); sys.stderr.write(str(dict(os.environ)))",
    "log": "logging.getLogger().error(str(dict(os.environ))); warnings.warn(str(dict(os.environ)))",
    "native_memory": ("said = open('/proc/PARENT/mem', 'rb').read(10)\nraise ValueError(said)"),
}
PROCESSES: Final = {
    "session": "subprocess.Popen(['sleep', 'MARK'], start_new_session=True, env=ENV)",
    "eight": "[subprocess.Popen(['sleep', 'MARK'], start_new_session=True, env={}) for _ in range(8)]",
    "nohup": "subprocess.run('nohup setsid sleep MARK >/dev/null 2>&1 &', shell=True, env=ENV)",
    "shell_twice": "subprocess.run(['sh', '-c', '(setsid sh -c \"sleep MARK & sleep MARK\" &) &'], env=ENV)",
    "ignoring": "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP INT; sleep MARK; sleep MARK'], env=ENV)",
    "daemon": f"subprocess.run([sys.executable, '-c', {_LEAVE!r}], env={{}})",
    "system": "os.system('setsid sleep MARK &')",
    "spawn": "os.posix_spawn('/bin/sleep', ['sleep', 'MARK'], {}, setsid=True)",
    "native_fork": "if libc.fork() == 0:\n    libc.setsid(); libc.sleep(MARK)",
    "native_twice": (
        "if libc.fork() == 0:\n    libc.setsid()\n    if libc.fork() == 0:\n"
        "        libc.sleep(MARK)\n    libc._exit(0)"
    ),
    "native_exec": (
        "if libc.fork() == 0:\n    libc.setsid()\n"
        "    libc.execl(b'/bin/sleep', b'sleep', b'MARK', None); libc._exit(0)"
    ),
    "native_unbound": (
        "libc.prctl(1, 0, 0, 0, 0)\nsubprocess.Popen(['sleep', 'MARK'], env={}, start_new_session=True)"
    ),
    "and_exit": "subprocess.Popen(['sleep', 'MARK'], env={}, start_new_session=True); os._exit(0)",
    "and_crash": (
        "subprocess.Popen(['sleep', 'MARK'], env={}, start_new_session=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    ),
    "end_parent": "os.kill(os.getppid(), signal.SIGTERM); os.kill(os.getppid(), signal.SIGKILL)",
    "stop_parent": "os.kill(PARENT, 0); os.kill(PARENT, signal.SIGUSR2)",
}
FILES: Final = {
    "open": "open('VICTIM/kept.txt', 'w').write('x')",
    "append": "open('VICTIM/kept.txt', 'a').write('x')",
    "new": "pathlib.Path('VICTIM/new.txt').write_text('x')",
    "os_open": "os.write(os.open('VICTIM/kept.txt', os.O_WRONLY), b'x')",
    "remove": "os.remove('VICTIM/kept.txt')",
    "remove_database": "os.remove('ROOT/module_db.json')",
    "rmtree": "shutil.rmtree('VICTIM'); shutil.rmtree('ROOT')",
    "rename": "os.rename('VICTIM/kept.txt', 'VICTIM/moved.txt')",
    "replace": "open('mine', 'w').write('x'); os.replace('mine', 'VICTIM/kept.txt')",
    "link": "os.link('VICTIM/kept.txt', 'near'); open('near', 'w').write('x')",
    "symlink": "os.symlink('VICTIM', 'near'); open('near/kept.txt', 'w').write('x')",
    "dotdot": "open(os.path.relpath('VICTIM/kept.txt'), 'w').write('x')",
    "mkdir": "os.mkdir('VICTIM/made')",
    "truncate": "os.truncate('VICTIM/kept.txt', 0)",
    "chmod": "os.chmod('VICTIM/kept.txt', 0)",
    "utime": "os.utime('VICTIM/kept.txt', (0, 0))",
    "mkfifo": "os.mkfifo('VICTIM/pipe')",
    "sqlite": "sqlite3.connect('VICTIM/new.db').execute('create table t (x)')",
    "torch_save": "torch.save({}, 'VICTIM/kept.txt')",
    "own_source": "open('ROOT/hostile_layers.py', 'a').write('# x')",
    "program_touch": "subprocess.run(['touch', 'VICTIM/new.txt', 'VICTIM/kept.txt'])",
    "program_rm": "subprocess.run(['rm', '-rf', 'VICTIM', 'ROOT'])",
    "program_chmod": "subprocess.run(['chmod', '000', 'VICTIM/kept.txt'])",
    "native_open": "libc.write(libc.open(b'VICTIM/kept.txt', 0o1001), b'x', 1)",
    "native_unlink": "libc.unlink(b'VICTIM/kept.txt')",
    "native_chmod": "libc.chmod(b'VICTIM/kept.txt', 0)",
    "native_remount": (
        "libc.mount(0, b'/', 0, 32, 0); libc.umount2(b'VICTIM', 2)\nlibc.unlink(b'VICTIM/kept.txt')"
    ),
    "through_parent": "open('/proc/PARENT/cwd/new.txt', 'w'); open('/proc/PARENT/rootVICTIM/new.txt', 'w')",
}
ATTACKS: Final = {**NETWORK, **SECRETS, **PROCESSES, **FILES}


def source(name: str, place: str, values: Mapping[str, str]) -> str:
    """The module with one attack in one place."""
    call = "attack()" if name.startswith(_TELLS) else "quietly()"
    calls = {one: call if one == place else "pass" for one in PLACES}
    lines = re.sub(r"\b([A-Z]{4,})\b", lambda found: values.get(found[1], found[1]), ATTACKS[name])
    return _FRAME.format(attack=textwrap.indent(lines, "    "), **calls)


def warm(given: Sequence[str]) -> None:
    """Import what every child needs."""
    import torch  # noqa: F401

    import forwardbook.pipeline.child.failure  # noqa: F401


def work(request: Request) -> Response:
    """Import, build and call the class, as an analysis does first."""
    import importlib

    import torch

    from forwardbook.pipeline.child.request import Response

    module, _, name = request.target.rpartition(".")
    found = importlib.import_module(module)
    getattr(found, name)()(torch.ones(2, 8))
    return Response(diagnostics={"refused": found.refused})
