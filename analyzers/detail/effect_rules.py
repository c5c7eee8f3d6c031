"""A call in, the kind of its side effect and what it touches out, by tables of known functions."""

from __future__ import annotations

import ast
import re
from typing import Final

from forwardbook.analyzers.detail.facts import EffectKind
from forwardbook.analyzers.detail.names import argument, last, listed, string
from forwardbook.analyzers.detail.open_file import OpenFile

_READS: Final = listed(
    """
    json.load pickle.load yaml.load yaml.safe_load toml.load tomllib.load tomli.load torch.load numpy.load
    numpy.loadtxt numpy.genfromtxt numpy.fromfile numpy.memmap pandas.read_csv pandas.read_json
    pandas.read_parquet pandas.read_pickle pandas.read_excel pandas.read_table safetensors.torch.load_file
    safetensors.safe_open onnx.load onnx.load_model os.listdir os.walk os.scandir os.stat os.readlink
    os.path.exists os.path.isfile os.path.isdir os.path.getsize glob.glob glob.iglob linecache.getline
    importlib.resources.files joblib.load h5py.File PIL.Image.open cv2.imread configparser.read
    zipfile.ZipFile tarfile.open csv.reader torch.jit.load sqlite3.connect fileinput.input
    """
)
_WRITES: Final = listed(
    """
    json.dump pickle.dump yaml.dump yaml.safe_dump toml.dump torch.save numpy.save numpy.savez
    numpy.savez_compressed numpy.savetxt safetensors.torch.save_file onnx.save onnx.save_model os.remove
    os.unlink os.rename os.replace os.makedirs os.mkdir os.rmdir os.removedirs os.symlink os.link os.chmod
    os.chown os.truncate os.utime shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.move
    shutil.rmtree shutil.make_archive shutil.unpack_archive tempfile.mkdtemp tempfile.mkstemp
    tempfile.NamedTemporaryFile tempfile.TemporaryDirectory tempfile.TemporaryFile joblib.dump cv2.imwrite
    matplotlib.pyplot.savefig csv.writer torch.jit.save torch.onnx.export
    """
)
_NETWORK: Final = listed(
    """
    socket.socket socket.create_connection ftplib.FTP smtplib.SMTP torch.hub.load
    torch.hub.load_state_dict_from_url datasets.load_dataset wandb.init wandb.log gdown.download
    torch.distributed.init_process_group
    """
)
_PROCESS: Final = listed(
    """
    os.system os.popen os.fork os.kill os.killpg os.spawnl os.spawnv os.execv os.execl os.execvp os.execve
    os.setsid os.nice os.wait os.waitpid signal.signal signal.alarm pty.spawn faulthandler.enable gc.collect
    gc.disable gc.freeze
    """
)
_ENVIRONMENT: Final = listed(
    """
    os.putenv os.unsetenv os.chdir os.umask locale.setlocale dotenv.load_dotenv sys.setrecursionlimit
    warnings.filterwarnings warnings.simplefilter
    """
)
_RANDOM: Final = listed(
    """
    random.seed random.shuffle numpy.random.seed torch.manual_seed torch.cuda.manual_seed
    torch.cuda.manual_seed_all torch.random.set_rng_state torch.set_rng_state torch.cuda.set_rng_state
    transformers.set_seed numpy.random.shuffle
    """
)
_DEVICE: Final = listed(
    """
    torch.cuda.set_device torch.cuda.empty_cache torch.cuda.synchronize torch.set_default_device
    torch.cuda.init torch.set_float32_matmul_precision torch.cuda.set_per_process_memory_fraction
    torch.use_deterministic_algorithms torch.set_default_dtype torch.set_num_threads torch.set_grad_enabled
    torch.cuda.reset_peak_memory_stats
    """
)
_OUTPUT: Final = listed(
    """
    print sys.stdout.write sys.stderr.write click.echo click.secho typer.echo rich.print pprint.pprint
    tqdm.tqdm.write
    """
)
_EXITS: Final = listed(
    """
    sys.exit os._exit os.abort exit quit
    """
)
_RULES: Final[dict[str, EffectKind]] = {
    **dict.fromkeys(_READS, "file read"),
    **dict.fromkeys(_WRITES, "file write"),
    **dict.fromkeys(_NETWORK, "network"),
    **dict.fromkeys(_PROCESS, "process"),
    **dict.fromkeys(_ENVIRONMENT, "environment"),
    **dict.fromkeys(_RANDOM, "random state"),
    **dict.fromkeys(_DEVICE, "device"),
    **dict.fromkeys(_OUTPUT, "output"),
    **dict.fromkeys(_EXITS, "exit"),
    **dict.fromkeys(("input", "getpass.getpass", "sys.stdin.read", "sys.stdin.readline"), "input"),
    "warnings.warn": "logging",
}
_MODULES: Final[tuple[tuple[str, EffectKind], ...]] = (
    ("requests.", "network"),
    ("urllib.request.", "network"),
    ("httpx.", "network"),
    ("aiohttp.", "network"),
    ("http.client.", "network"),
    ("huggingface_hub.", "network"),
    ("boto3.", "network"),
    ("paramiko.", "network"),
    ("subprocess.", "process"),
    ("multiprocessing.Process", "process"),
    ("torch.multiprocessing.spawn", "process"),
    ("torch.multiprocessing.Process", "process"),
)
_METHODS: Final[dict[str, EffectKind]] = {
    **dict.fromkeys(("read_text", "read_bytes", "iterdir", "rglob"), "file read"),
    **dict.fromkeys(
        ("write_text", "write_bytes", "touch", "mkdir", "rmdir", "unlink", "symlink_to"), "file write"
    ),
    **dict.fromkeys(
        ("to_csv", "to_parquet", "to_json", "to_pickle", "to_excel", "savefig", "save_pretrained"),
        "file write",
    ),
    **dict.fromkeys(("push_to_hub", "urlopen", "sendall", "recv"), "network"),
    "from_pretrained": "network",
}
_LOGGERS: Final = re.compile(
    r"(^|\.)_*(log|logger|logging)\."
    r"(debug|info|warning|warn|error|exception|critical|log|warning_once|warning_rank_0)$",
    re.IGNORECASE,
)
_NOT_CALLS: Final = ("Error", "Exception", "Timeout", "TimeoutExpired", "list2cmdline")


def rule(file: OpenFile, node: ast.Call) -> tuple[EffectKind, str] | None:
    """The kind of a call's side effect and what it touches, as written; nothing where none is known."""
    name = file.names.full(node.func)
    if name in ("open", "io.open", "gzip.open", "bz2.open", "lzma.open", "codecs.open", "os.fdopen"):
        return _open(file, node, 1)
    known = _RULES.get(name)
    if known is None and name:
        if _LOGGERS.search(name):
            return "logging", ""
        prefix = next((kind for start, kind in _MODULES if name.startswith(start)), None)
        if prefix is not None and file.names.is_imported(node.func) and not name.endswith(_NOT_CALLS):
            known = prefix
    if known is None and isinstance(node.func, ast.Attribute):
        if node.func.attr == "open" and not file.names.is_imported(node.func) and _is_mode(node):
            return _open(file, node, 0)
        known = _METHODS.get(node.func.attr)
        if known is not None:
            return known, _receiver(file, node, known)
    return None if known is None else (known, file.text(node.args[0]) if node.args else "")


def _open(file: OpenFile, node: ast.Call, position: int) -> tuple[EffectKind, str]:
    """Whether `open` reads or writes, by its mode, and the file it opens."""
    mode = argument(node, position, "mode")
    words = string(mode)
    kind: EffectKind = "file write" if any(sign in words for sign in "wax+") else "file read"
    if position == 0:
        assert isinstance(node.func, ast.Attribute)
        return kind, file.text(node.func.value)
    return kind, file.text(node.args[0]) if node.args else ""


def _is_mode(node: ast.Call) -> bool:
    mode = argument(node, 0, "mode")
    return mode is None or bool(re.fullmatch(r"[rwaxbt+U]+", string(mode)))


def _receiver(file: OpenFile, node: ast.Call, kind: EffectKind) -> str:
    if kind == "network" or last(node.func).startswith(("to_", "save")):
        return file.text(node.args[0]) if node.args else ""
    assert isinstance(node.func, ast.Attribute)
    return file.text(node.func.value)
