"""Our environment in; out what a child process gets of it: what programs need to be found and run."""

from __future__ import annotations

import os
import site
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import forwardbook
from forwardbook.pipeline.child.job import MEMORY_VARIABLE

TOKEN: Final = "FORWARDBOOK_CHILD"  # marks every process that descends from one child
PASSED: Final = "FORWARDBOOK_PASS_ENV"
"""Names of further variables that analysed code needs, with commas between."""

_KEPT: Final = frozenset(
    {
        *("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"),
        *("TZ", "LANG", "LANGUAGE", "USER", "LOGNAME"),
        *("PYTHONHOME", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONWARNINGS"),
        *("ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "MKL_NUM_THREADS", "KMP_DUPLICATE_LIB_OK"),
        *("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TORCH_HOME", MEMORY_VARIABLE),
    }
)
_SET: Final = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}


def environment(token: str, ours: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What is needed of ours, without secrets, a way to the network or to a GPU.

    Downloaded models are read where they lie, though the home folder is another.
    """
    asked = {name.strip() for name in ours.get(PASSED, "").split(",")}
    kept = {n: value for n, value in ours.items() if n in _KEPT or n.startswith("LC_") or n in asked}
    paths = [os.path.abspath(path) for path in kept.get("PYTHONPATH", "").split(os.pathsep) if path]
    package = Path(forwardbook.__file__).parent.parent
    if not package.name.endswith("-packages"):  # a checkout: the child must find it too
        paths.insert(0, str(package))
    if paths:
        kept["PYTHONPATH"] = os.pathsep.join(paths)
    if site.ENABLE_USER_SITE:
        kept["PYTHONUSERBASE"] = site.getuserbase()
    return {**_caches(ours), **kept, **_SET, TOKEN: token}


def own(folder: Path) -> dict[str, str]:
    """The variables that make a folder the home of a process, and the place of its temporary files."""
    return {"HOME": str(folder), "TMPDIR": str(folder)}


def _caches(ours: Mapping[str, str]) -> dict[str, str]:
    """Where torch and huggingface_hub find what was downloaded."""
    cache = Path(ours.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    downloaded = Path(ours.get("HF_HOME") or cache / "huggingface")
    return {"HF_HUB_CACHE": str(downloaded / "hub"), "TORCH_HOME": str(cache / "torch")}
