"""No page is refused: what a name means in a file is what that file says, and real code gets its pages."""

import shutil
from pathlib import Path

import pytest
import torch

from forwardbook.pipeline.explain.pages import Request, explain
from forwardbook.pipeline.explain.verify_pages import PageError, verify_pages

TRAIN = '''"""Trains."""
import cutlass.cute as cute
from model import Net

config = {"width": 3}


def main(device, rewards):
    model = Net(config)
    model.to(device)
    rewards.to(device)
    cute.compile(model)
    return model(rewards)
'''
MODEL = '''"""A net."""
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    """One layer."""

    def __init__(self, config):
        super().__init__()
        self.fc = nn.Linear(config.width, config.width)

    def forward(self, x):
        return torch.relu(F.gelu(self.fc(x)))


class Session:
    """Opened and closed."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *args):
        await self.close()

    async def close(self):
        """Nothing more."""
'''
FILES = {
    "train.py": TRAIN,
    "model.py": MODEL,
    "config/__init__.py": "WIDTH = 3\n",
    "cute/__init__.py": "",
    "rewards/__init__.py": "",
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Files whose variables are called like the modules and packages beside them."""
    for name, text in FILES.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    return tmp_path / "src"


def contradicted(pages: Path, root: Path) -> list[str]:
    """What the verifier says against the pages."""
    found = [claim for page in verify_pages((pages,), root) for claim in page.claims]
    assert found
    return [claim.message() for claim in found if claim.state == "contradicted"]


def test_a_variable_wins_over_a_module_of_its_name(sources: Path, tmp_path: Path) -> None:
    """`model.to`, `config.width`, `cute.compile` are of values; calls of outside modules are no claim."""
    out = tmp_path / "out"
    report = explain(Request((sources,), out, root=sources))

    assert ({"written"}, 0) == ({page.outcome for page in report.pages}, report.left_out)
    assert {"train.md", "model.md"} <= {page.name for page in report.pages}
    assert [] == contradicted(out, sources)
    assert "__aexit__" in (out / "model.md").read_text(encoding="utf-8")


def test_modules_of_torch_get_their_pages(tmp_path: Path) -> None:
    """Every page of torch's own layers is written, and nothing on them is contradicted or leads nowhere."""
    root = tmp_path / "torch"
    for name in ("linear", "dropout", "container", "rnn", "adaptive"):
        path = Path(torch.nn.modules.__path__[0]) / f"{name}.py"
        (root / "nn" / "modules").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / "nn" / "modules" / f"{name}.py")
    report = explain(Request((root / "nn",), tmp_path / "out", root=root))

    assert {"written"} == {page.outcome for page in report.pages}
    assert 6 == len(report.pages)
    assert [] == contradicted(tmp_path / "out", root)


def test_pages_are_verified_where_their_files_are(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From another folder, the one above the pages that has them; where there is none, that is said."""
    out, elsewhere = sources / "pages", tmp_path / "elsewhere"
    explain(Request((sources,), out, root=sources))
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    claims = [claim for page in verify_pages((out,)) for claim in page.claims]

    assert claims
    assert not [claim for claim in claims if claim.state in ("contradicted", "stale")]
    out.rename(tmp_path / "moved")
    with pytest.raises(PageError, match=r"model.py.* Give the folder that they speak of: --root DIR"):
        list(verify_pages((tmp_path / "moved",)))
