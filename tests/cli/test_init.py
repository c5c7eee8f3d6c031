"""`forwardbook init`: what is missing is written, what is there is left; workflows have their form."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from forwardbook.pipeline.init import Choices, initialise, rendered, texts
from forwardbook.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = (".github/workflows/forwardbook-check.yml", ".github/workflows/forwardbook-regenerate.yml")
INSTALL = "python -m pip install --constraint constraints.txt --editable ."


def outcomes(folder: Path, **choices: object) -> dict[str, str]:
    """What became of each file."""
    return {one.name: one.outcome for one in initialise(folder, Choices(**choices))}  # type: ignore[arg-type]


def test_an_empty_folder_becomes_a_workspace(tmp_path: Path) -> None:
    """Everything is written, the database can be read, and a second time nothing changes."""
    first = outcomes(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    assert {"written"} == set(first.values())
    assert {} == Workspace(tmp_path).load().own
    assert {"unchanged"} == set(outcomes(tmp_path).values())
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_what_is_there_is_left_and_told(tmp_path: Path) -> None:
    """Files, links and folders in the way stay as they are; each is listed with what to do."""
    (tmp_path / "mkdocs.yml").write_text("site_name: mine\n")
    (tmp_path / ".gitignore").write_text("*.pyc\nsite/\n")
    (tmp_path / ".pre-commit-config.yaml").symlink_to("nowhere")
    (tmp_path / ".github").write_text("a file\n")
    (tmp_path / "module_db.json").write_text('{"schema_version": 1, "entries": {}}')
    found = {one.name: one for one in initialise(tmp_path, Choices())}

    kept = {"mkdocs.yml", ".gitignore", ".pre-commit-config.yaml", *WORKFLOWS}
    assert kept == {name for name, one in found.items() if one.outcome == "kept"}
    assert all(found[name].advice for name in kept)
    assert "add these lines to it: /docs/book/" in found[".gitignore"].advice
    assert "site_name: mine\n" == (tmp_path / "mkdocs.yml").read_text()
    assert not (tmp_path / "nowhere").exists()
    assert "a file\n" == (tmp_path / ".github").read_text()
    assert '{"schema_version": 1, "entries": {}}' == (tmp_path / "module_db.json").read_text()


def test_workflows_belong_to_the_top_of_a_checkout(tmp_path: Path) -> None:
    """In a subfolder of a repository only the workspace's own files are written."""
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)
    (tmp_path / "inner").mkdir()

    assert {"docs/index.md", "mkdocs.yml"} == set(texts(tmp_path / "inner", Choices()))


@pytest.mark.parametrize(
    "name", ["it's: a #name", '"quoted"', "{{ x }} [[ y ]]", "a\nb: c", "${{ secrets.X }}"]
)
def test_names_are_quoted_where_they_stand(tmp_path: Path, name: str) -> None:
    """A project may be called anything: in YAML it stays one string."""

    class Loader(yaml.SafeLoader):
        """Takes the tags of MkDocs as what they hold."""

    Loader.add_multi_constructor("", lambda loader, tag, node: str(tag))
    found = texts(tmp_path, Choices(name=name))
    site = yaml.load(found["mkdocs.yml"], Loader)

    assert " ".join(name.split()) == site["site_name"]
    assert all(name not in found[one] for one in WORKFLOWS)


def schema_problems(kind: str, *files: Path) -> str:
    """What GitHub's schema says of files."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", kind, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_workflows_and_the_action_follow_their_schemas(tmp_path: Path) -> None:
    """The workflows that are written, this repository's own, and action.yml."""
    initialise(tmp_path, Choices())
    files = [folder / name for folder in (tmp_path, ROOT) for name in WORKFLOWS]

    assert "" == schema_problems("vendor.github-workflows", *files)
    assert "" == schema_problems("vendor.github-actions", ROOT / "action.yml")


def test_workflows_are_safe(tmp_path: Path) -> None:
    """Actions are pinned to commits, jobs end, no text of others stands in a script, no key is needed."""
    for name, text in texts(tmp_path, Choices()).items():
        if name not in WORKFLOWS:
            continue
        content = yaml.safe_load(text)
        assert {"contents": "read"} == content["permissions"]
        for job in content["jobs"].values():
            assert 0 < job["timeout-minutes"] <= 350
            for step in job["steps"]:
                assert "${{" not in step.get("run", "")
                owner, _, commit = step.get("uses", "a@" + "0" * 40).partition("@")
                assert owner and len(commit) == 40


def test_the_commands_of_workflows_exist(tmp_path: Path) -> None:
    """Each `forwardbook ...` of workflows, hooks and the action is a command with those options."""
    import re

    from typer.main import get_command

    from forwardbook.cli.app import build_app

    group = get_command(build_app())
    found = [*texts(tmp_path, Choices()).values(), (ROOT / "action.yml").read_text()]
    found.append((ROOT / ".pre-commit-hooks.yaml").read_text())
    calls = re.findall(r"(?:run:|entry:|^ +)\s*forwardbook ([a-z-]+)(.*)$", "\n".join(found), re.MULTILINE)
    assert {"check", "diff", "regenerate", "site"} == {name for name, _ in calls}
    for name, rest in calls:
        options = {text for one in group.commands[name].params for text in one.opts}  # type: ignore[attr-defined]
        if name != "site":
            assert set(re.findall(r"--[a-z-]+", rest)) <= options


@pytest.mark.parametrize("template", ["check.yml.j2", "regenerate.yml.j2"])
def test_this_repository_uses_its_own_workflows(template: str) -> None:
    """They are what `forwardbook init` writes, but for how the program is installed."""
    path = ROOT / ".github" / "workflows" / f"forwardbook-{template.removesuffix('.j2')}"

    assert rendered(template, Choices(name="forwardbook"), "", INSTALL) == path.read_text()


def test_the_site_is_set_up_as_this_one(tmp_path: Path) -> None:
    """Theme, plugins, extensions and checks of a new mkdocs.yml are those of this repository."""
    ours = (ROOT / "mkdocs.yml").read_text()
    theirs = texts(tmp_path, Choices())["mkdocs.yml"]
    for block in ("theme", "plugins", "markdown_extensions", "validation", "use_directory_urls"):
        assert _block(ours, block) == _block(theirs, block), (
            f"{block} of mkdocs.yml changed: change src/forwardbook/workspace/starting/mkdocs.yml.j2 too"
        )


def _block(text: str, name: str) -> list[str]:
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{name}:"))
    rest = lines[start + 1 :]
    end = next(
        (number for number, line in enumerate(rest) if line and not line.startswith((" ", "-"))), len(rest)
    )
    return [line for line in lines[start : start + 1 + end] if line.strip()]


def test_hooks_have_what_pre_commit_needs() -> None:
    """Each hook has an id, a name, an entry and a language."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

    assert all({"id", "name", "entry", "language"} <= set(hook) for hook in hooks)
    assert json.dumps(hooks)
