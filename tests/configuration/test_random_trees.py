"""Random trees and overrides: where Hydra is installed, it composes the same values or refuses the same."""

import random
import warnings
from pathlib import Path

import pytest
import yaml

from forwardbook.configuration.composition import compose
from forwardbook.configuration.overrides import ConfigurationError

GROUPS = ["a", "b", "c", "a/x", "b/y"]
OPTIONS = ["o1", "o2", "o3"]
MOUNTS = ["z", "z.w", "_here_", "_global_", "_global_.t", "a"]
HEADERS = ["_global_", "q", "q.r", "_global_.v"]
VALUES = ["7", "text", "[1,2]", "{p: 9}"]


def entry(draw: random.Random, group: str, used: set[str]) -> object:
    """An entry of a defaults list; groups come once and lead to later ones alone."""
    later = GROUPS[GROUPS.index(group) + 1 :] if group else GROUPS
    left = [one for one in later if one not in used]
    if not left:
        return None
    name, option = draw.choice(left), draw.choice(OPTIONS)
    used.add(name)
    path = f"/{name}" if group else name
    kind = draw.random()
    if kind < 0.5:
        return {path: option}
    if kind < 0.75:
        return {f"{path}@{draw.choice(MOUNTS)}": option}
    if kind < 0.85:
        return {f"optional {path}": draw.choice([*OPTIONS, "none"])}
    return {path: draw.sample(OPTIONS, 2)} if kind < 0.95 else f"/{name}/{option}"


def content(draw: random.Random, name: str, group: str) -> str:
    """A file: sometimes a header and a defaults list, and a few values."""
    used: set[str] = set()
    wanted = draw.randrange(1, 4) if draw.random() < (0.3 if group else 0.95) else 0
    defaults = [one for one in (entry(draw, group, used) for _ in range(wanted)) if one is not None]
    if defaults and draw.random() < 0.6:
        defaults.insert(draw.randrange(len(defaults) + 1), "_self_")
    values = {
        key: draw.choice([1, "s", True, [1, 2], {"p": draw.randrange(5), "q": name}, 1.5])
        for key in draw.sample("klmn", draw.randrange(4))
    }
    header = f"# @package {draw.choice(HEADERS)}\n" if group and draw.random() < 0.2 else ""
    document = {**({"defaults": defaults} if defaults else {}), **values}
    return header + (yaml.safe_dump(document, sort_keys=False) if document else "")


def overrides(draw: random.Random) -> list[str]:
    """None, one or two overrides of every kind."""
    found = []
    for _ in range(draw.choice([0, 1, 1, 2])):
        group, option, value = draw.choice(GROUPS), draw.choice(OPTIONS), draw.choice(VALUES)
        mount, key = draw.choice(["z", "h.i", "_global_"]), draw.choice(["k", "a.k", "a.x.l", "z.m"])
        kinds = [f"{group}={option}", f"+{group}={option}", f"+{group}@{mount}={option}", f"~{group}"]
        found.append(draw.choice([*kinds, f"++{key}={value}", f"{key}={value}", f"~{key}"]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_as_hydra(seed: int, tmp_path: Path) -> None:
    """One tree, composed by both."""
    hydra = pytest.importorskip("hydra")
    from omegaconf import OmegaConf

    draw = random.Random(seed)
    names = [("config", ""), *((f"{g}/{o}", g) for g in GROUPS for o in OPTIONS if draw.random() < 0.9)]
    for name, group in names:
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content(draw, name, group), encoding="utf-8")
    words = overrides(draw)
    try:
        with warnings.catch_warnings(), hydra.initialize_config_dir(str(tmp_path), version_base="1.3"):
            warnings.simplefilter("ignore")
            expected = OmegaConf.to_container(hydra.compose("config", overrides=words), resolve=False)
    except Exception:
        expected = None
    try:
        found = OmegaConf.to_container(compose([tmp_path], overrides=words).values, resolve=False)
    except ConfigurationError:
        found = None

    assert expected == found, words
