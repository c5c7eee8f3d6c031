"""Cases of configuration trees in; what Hydra composes of each, written beside them, out.

Run by hand, in an environment of its own: `pip install hydra-core==1.3.8`, then
`python tests/configuration/record_hydra.py`.
"""

import tempfile
from pathlib import Path

import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

CASES = Path(__file__).with_name("hydra_cases.yaml")


def answer(case: dict, folder: Path) -> dict:
    """Hydra's values for one case, or that it refuses it."""
    for name, text in case["files"].items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    try:
        with initialize_config_dir(str(folder), version_base="1.3"):
            found = compose("config", overrides=case.get("overrides", []))
        return {"expected": OmegaConf.to_container(found, resolve=True)}
    except Exception as error:
        return {"refused": type(error).__name__}


def main() -> None:
    """Rewrites the answers of all cases."""
    cases = yaml.safe_load(CASES.read_text())
    for case in cases:
        case.pop("expected", None), case.pop("refused", None)
        with tempfile.TemporaryDirectory() as folder:
            case.update(answer(case, Path(folder)))
    CASES.write_text(yaml.safe_dump(cases, sort_keys=False, width=100))


if __name__ == "__main__":
    main()
