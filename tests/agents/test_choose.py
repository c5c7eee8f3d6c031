"""Who is asked: a key that is set chooses nobody, a user's own file or option does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forwardbook.agents.choose import choose
from forwardbook.agents.ledger import UnknownPrice
from forwardbook.agents.recordings import Recorded, Replay
from forwardbook.agents.settings import Settings, SettingsError, load_settings
from forwardbook.agents.static import StaticAnalyst
from forwardbook.cli.agent_options import chosen_analyst


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a configuration, with a key in the environment."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    return tmp_path


def configure(home: Path, text: str) -> None:
    """Write the user's configuration."""
    (home / "forwardbook").mkdir()
    (home / "forwardbook" / "config.toml").write_text(text)


def test_key_chooses_nobody() -> None:
    """With a key in the environment and nothing else said, no model is asked."""
    assert isinstance(choose().analyst, StaticAnalyst)
    assert chosen_analyst(None, None, "", False) is None


def test_option_chooses() -> None:
    """An option names the analyst; without a key that is an error that says how to give one."""
    assert isinstance(choose("api").analyst, Recorded)
    assert isinstance(choose("replay").analyst, Replay)
    os.environ.pop("ANTHROPIC_API_KEY")
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY"):
        choose("sdk")


def test_configuration_chooses(home: Path) -> None:
    """The user's own file names the analyst, its model and the cap; an option wins over it."""
    configure(home, '[agents]\nanalyst = "api"\nmodel = "claude-opus-5"\nmax_cost = 2\n')
    chosen = choose()

    assert ("api", "claude-opus-5", 2 * 10**9) == (chosen.backend, chosen.analyst.model, chosen.ledger.cap)
    assert "claude-haiku-5-5" == choose(model="claude-haiku-5-5").analyst.model
    assert chosen_analyst("static", None, "", False) is None


@pytest.mark.parametrize(
    "text", ["[agents", '[agents]\nanalyst = "gpt"', "[agents]\nkey = 1", "[agents]\nmax_cost = -1"]
)
def test_broken_configuration_is_told(text: str, home: Path) -> None:
    """What is not understood is an error that names the file."""
    configure(home, text)
    with pytest.raises(SettingsError, match="config.toml"):
        load_settings()


def test_unknown_model_is_refused() -> None:
    """A model without a price is never asked."""
    with pytest.raises(UnknownPrice):
        choose("api", model="claude-unheard-of")


def test_roles_have_limits() -> None:
    """Timeouts are 600 and 300 s, and what the user says."""
    chosen = choose(settings=Settings(seconds={"reviewer": 20}))

    assert (600, 300, 20) == tuple(
        chosen.limits(role).seconds for role in ("module_analyst", "module_generator", "reviewer")
    )


@pytest.mark.parametrize("arguments", [["--help"], ["explain", "--help"], ["analyze-module", "--help"]])
def test_help_imports_no_agent(arguments: list[str]) -> None:
    """No SDK, and nothing of this room, is imported where nobody is asked."""
    code = (
        "import sys\nfrom forwardbook.cli import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "slow = ('anthropic', 'claude_agent_sdk', 'mcp', 'jinja2', 'forwardbook.agents', 'torch')\n"
        "sys.exit(','.join(name for name in slow if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)


def test_documentation_needs_the_sdk(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Servers that the user named and that this analyst cannot ask are told, not passed over in silence."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "forwardbook" / "config.toml"
    path.parent.mkdir()
    path.write_text('[agents.documentation.library]\ncommand = "docs"\ntools = ["look_up"]\n')

    for name, told in (("api", True), ("sdk", False), ("static", False)):
        chosen_analyst(name, None, "", False)  # type: ignore[arg-type]
        assert told == ("only --analyst sdk" in capsys.readouterr().err)
