"""The composer beside Hydra 1.3.8: the same trees give the same values, or are refused by both."""

from pathlib import Path

import pytest
import yaml

from forwardbook.configuration.composition import compose
from forwardbook.configuration.overrides import ConfigurationError

CASES = yaml.safe_load(Path(__file__).with_name("hydra_cases.yaml").read_text(encoding="utf-8"))


def tree(files: dict[str, str], folder: Path) -> Path:
    """The files of a case on disk."""
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_as_hydra_composes(case: dict, tmp_path: Path) -> None:
    """Values are those that Hydra recorded; what it refuses is refused."""
    folder = tree(case["files"], tmp_path)

    if "refused" in case:
        with pytest.raises(ConfigurationError):
            compose([folder], overrides=case["overrides"]).resolved()
    else:
        assert case["expected"] == compose([folder], overrides=case["overrides"]).resolved()


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: case["name"])
def test_hydra_itself(case: dict, tmp_path: Path) -> None:
    """Where Hydra is installed, it still says what was recorded."""
    hydra = pytest.importorskip("hydra")
    from omegaconf import OmegaConf

    with hydra.initialize_config_dir(str(tree(case["files"], tmp_path)), version_base="1.3"):
        found = hydra.compose("config", overrides=case["overrides"])

    assert case["expected"] == OmegaConf.to_container(found, resolve=True)
