"""Packages about which nothing is known: small ones of several styles, their classes built and called."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forwardbook.analyzers.instances.adapters.plain import PlainAdapter
from forwardbook.analyzers.instances.recipe import Sizes
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.pipeline.derivation.assumptions import left_out

Package = Callable[[str], str]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Writes a package of one module, `parts`, into the current folder; tells its name."""

    def write(text: str) -> str:
        name = f"package_{tmp_path.name.replace('-', '_')}"
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        code = "import torch\nfrom torch import nn\n\n\n" + textwrap.dedent(text)
        (tmp_path / name / "parts.py").write_text(code, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.chdir(tmp_path)
        return name

    return write


def _reached(name: str, *classes: str) -> tuple[set[str], dict[str, str]]:
    """The classes that the ways of a package call, and what was said of those that no way calls."""
    missing = {f"{name}.parts.{one}" for one in classes}
    said: dict[str, str] = {}
    for way in PlainAdapter(name).ways([f"{name}.parts"], missing):
        if way.recipe is None:
            said |= {one.rpartition(".")[2]: str(way.problem) for one in way.holds}
        else:
            missing -= way.holds
    left = {one.rpartition(".")[2] for one in missing}
    return set(classes) - left, {one: said.get(one, "") for one in left}


def _sizes(name: str, one: str) -> tuple[dict[str, int], tuple[list[int], ...]]:
    """The sizes that the first way of a class asks for, and the shapes of its inputs."""
    asked: dict[str, int] = {}

    def size(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        assert asked.setdefault(name, hint) == hint
        return hint

    chosen: Sizes = size
    full = f"{name}.parts.{one}"
    way = next(w for w in PlainAdapter(name).ways([f"{name}.parts"], {full}) if w.recipe is not None)
    assert way.recipe is not None
    module = way.recipe.build(chosen)
    args, kwargs = way.recipe.inputs(chosen, module, PlainMaker())
    return asked, tuple(list(x.shape) for x in (*args, *kwargs.values()) if hasattr(x, "shape"))


def test_a_width_of_its_own_is_no_column_of_an_image(package: Package) -> None:
    """A constructor's `width` and the columns of an image are two sizes."""
    name = package(
        """
        class Blurred(nn.Module):
            def __init__(self, width=8):
                super().__init__()
                self.conv = nn.Conv2d(3, width, 3, padding=1)

            def forward(self, x):
                return self.conv(x)
        """
    )

    asked, _ = _sizes(name, "Blurred")

    assert 8 == asked["width"]
    assert {"height", "input_width"} < asked.keys()


def test_examples_tell_how_classes_are_built(package: Package) -> None:
    """Arguments and inputs are those that a docstring shows; sizes as large as an argument are it."""
    name = package(
        '''
        class Pictures(nn.Module):
            """Sorts pictures.

            >>> model = Pictures(side=24, patch=6, dim=10, kinds=("a", "b"))
            >>> model(torch.randn(1, 3, 24, 24))
            """

            def __init__(self, *, side, patch, dim, kinds):
                super().__init__()
                assert side % patch == 0 and len(kinds) == 2
                self.conv = nn.Conv2d(3, dim, patch, stride=patch)
                self.position = nn.Parameter(torch.zeros(1, dim, side // patch, side // patch))

            def forward(self, img):
                return self.conv(img) + self.position
        '''
    )

    asked, shapes = _sizes(name, "Pictures")

    assert {"side": 24, "patch": 6, "dim": 10}.items() <= asked.items()
    assert 24 in shapes[0]


def test_inputs_fit_the_first_layers(package: Package) -> None:
    """Images, sequences, ids and signals are told apart by the layer that takes them."""
    name = package(
        """
        class Image(nn.Module):
            def __init__(self, feats=7):
                super().__init__()
                self.norm = nn.BatchNorm2d(feats)

            def forward(self, x):
                b, c, h, w = x.shape
                return self.norm(x)


        class Tokens(nn.Module):
            def __init__(self, words=50, inner=12):
                super().__init__()
                self.table = nn.Embedding(words, inner)

            def forward(self, x):
                return self.table(x)


        class Signal(nn.Module):
            def __init__(self, mels=9):
                super().__init__()
                self.conv = nn.Conv1d(mels, mels, 3)

            def forward(self, x):
                b, c, t = x.shape
                return self.conv(x)


        class Volume(nn.Module):
            def __init__(self, mods=5):
                super().__init__()
                self.conv = nn.Conv3d(mods, mods, 3)

            def forward(self, x):
                b, c, d, h, w = x.shape
                return self.conv(x)
        """
    )

    reached, said = _reached(name, "Image", "Tokens", "Signal", "Volume")

    assert {"Image", "Tokens", "Signal", "Volume"} == reached, said


def test_parts_of_diffusion_models(package: Package) -> None:
    """Constructors of nothing but defaults; a time, and states of another sequence, beside the sample."""
    name = package(
        """
        class Cross(nn.Module):
            def __init__(self, dim, context_dim, heads=4):
                super().__init__()
                self.q, self.k = nn.Linear(dim, dim), nn.Linear(context_dim, dim)

            def forward(self, hidden_states, encoder_hidden_states):
                return self.q(hidden_states) @ self.k(encoder_hidden_states).transpose(1, 2)


        class Denoiser(nn.Module):
            def __init__(self, sample_size=16, in_channels=4, num_layers=6, cross_attention_dim=20):
                super().__init__()
                self.conv = nn.Conv2d(in_channels, 32, 3, padding=1)
                self.blocks = nn.ModuleList(nn.Conv2d(32, 32, 3, padding=1) for _ in range(num_layers))
                self.time = nn.Linear(1, 32)
                self.context = nn.Linear(cross_attention_dim, 32)

            def forward(self, sample, timestep, encoder_hidden_states=None, return_dict=True):
                x = self.conv(sample) + self.time(timestep[:, None].float())[:, :, None, None]
                for block in self.blocks:
                    x = block(x)
                return x + self.context(encoder_hidden_states).mean(1)[:, :, None, None]
        """
    )

    reached, said = _reached(name, "Cross", "Denoiser")

    assert {"Cross", "Denoiser"} == reached, said


def test_graphs(package: Package) -> None:
    """Nodes with features, and pairs of nodes."""
    name = package(
        """
        class Messages(nn.Module):
            def __init__(self, in_channels, out_channels):
                super().__init__()
                self.lin = nn.Linear(in_channels, out_channels)

            def forward(self, x, edge_index):
                sent = self.lin(x)[edge_index[0]]
                return torch.zeros_like(self.lin(x)).index_add_(0, edge_index[1], sent)
        """
    )

    reached, said = _reached(name, "Messages")

    assert {"Messages"} == reached, said


def test_what_cannot_be_built_alone_is_reached_in_what_holds_it(package: Package) -> None:
    """A part whose constructor takes what nobody can guess is called by the model around it."""
    name = package(
        """
        class Part(nn.Module):
            def __init__(self, spec):
                super().__init__()
                self.lin = nn.Linear(spec["in"], spec["out"])

            def forward(self, x):
                return self.lin(x)


        class Whole(nn.Module):
            def __init__(self, dim=8):
                super().__init__()
                self.part = Part({"in": dim, "out": 2 * dim})

            def forward(self, x):
                return self.part(x)
        """
    )

    reached, said = _reached(name, "Part", "Whole")

    assert {"Part", "Whole"} == reached, said


def test_lists_of_sizes(package: Package) -> None:
    """Where one number does not do, several are given."""
    name = package(
        """
        class Stages(nn.Module):
            def __init__(self, dims, depths):
                super().__init__()
                assert len(dims) == len(depths) == 4
                self.layers = nn.Sequential(*(nn.Linear(dims[0], dims[0]) for _ in range(depths[0])))

            def forward(self, x):
                return self.layers(x)
        """
    )

    reached, said = _reached(name, "Stages")

    assert {"Stages"} == reached, said


def test_a_build_that_was_found_by_trying_can_be_looked_up(package: Package) -> None:
    """What is remembered of a recipe is kept by what builds it, a class without a config among others."""
    name = package(
        """
        class Scale(nn.Module):
            def __init__(self, width: int = 8):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(width))

            def forward(self, hidden_states):
                return hidden_states * self.weight
        """
    )
    full = f"{name}.parts.Scale"
    way = next(w for w in PlainAdapter(name).ways([f"{name}.parts"], {full}) if w.recipe is not None)
    assert way.recipe is not None

    assert () == left_out(replace(way.recipe, target=f"transformers.{full}"), [full])
