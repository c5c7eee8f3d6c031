"""Command lines of each framework, against what a reader would type."""

from __future__ import annotations

from collections.abc import Callable

from forwardbook.analyzers.detail.facts import Detail

Read = Callable[..., Detail]


def test_argparse_with_groups_and_subcommands(read: Read) -> None:
    """Options go to the parser behind their group; each subcommand is a command of its own."""
    found = read("""
        import argparse
        def main():
            parser = argparse.ArgumentParser(description="Do  it.")
            parser.add_argument("input", help="what to read")
            parser.add_argument("-n", "--num-runs", type=int, default=3, help="how often")
            group = parser.add_argument_group("more")
            group.add_argument("--mode", choices=["a", "b"], required=True)
            group.add_argument("--fast", action="store_true", dest="speed")
            subs = parser.add_subparsers()
            sub = subs.add_parser("list", help="list them")
            sub.add_argument("names", nargs="*")
            sub.set_defaults(func=list_them)
        """).commands
    program, command = found
    assert ("argparse", 3, "", "main", "Do it.") == (
        program.framework,
        program.line,
        program.name,
        program.function,
        program.help,
    )
    assert [
        (("input",), "input", "", "", "what to read", True, False, True, ""),
        (("-n", "--num-runs"), "num_runs", "int", "3", "how often", False, False, False, ""),
        (("--mode",), "mode", "", "", "", True, False, False, '["a", "b"]'),
        (("--fast",), "speed", "", "False", "", False, True, False, ""),
    ] == [
        (o.flags, o.name, o.type, o.default, o.help, o.required, o.is_flag, o.is_argument, o.choices)
        for o in program.options
    ]
    assert ("list", "list_them", "list them") == (command.name, command.function, command.help)
    assert [(("names",), False, 'str, nargs="*"')] == [(o.flags, o.required, o.type) for o in command.options]


def test_options_added_to_a_parser_from_elsewhere(read: Read) -> None:
    """A function that fills a parser it is given has a command by its own name."""
    (found,) = read("""
        def add(parser):
            parser.add_argument("--x", type=float)
        """).commands
    assert ("argparse", "add", ("--x",)) == (found.framework, found.function, found.options[0].flags)


def test_click(read: Read) -> None:
    """Options and arguments by decorators, in the order written."""
    (found,) = read("""
        import click
        @click.command()
        @click.argument("path")
        @click.option("--size", "-s", type=int, default=1, show_default=True, help="how big")
        @click.option("--yes/--no", default=False)
        @click.option("--kind", type=click.Choice(["a", "b"]), required=True)
        def make_it(path, size, yes, kind):
            '''Make it.'''
        """).commands
    assert ("click", "make-it", "make_it", "Make it.") == (
        found.framework,
        found.name,
        found.function,
        found.help,
    )
    assert [
        (("path",), "path", "", True, False, True, ""),
        (("--size", "-s"), "size", "1", False, False, False, ""),
        (("--yes", "--no"), "yes", "False", False, True, False, ""),
        (("--kind",), "kind", "", True, False, False, '["a", "b"]'),
    ] == [
        (o.flags, o.name, o.default, o.required, o.is_flag, o.is_argument, o.choices) for o in found.options
    ]


def test_typer(read: Read) -> None:
    """Parameters become options and arguments, annotated or by default value."""
    (found,) = read("""
        import typer
        from typing import Annotated
        app = typer.Typer()
        @app.command("build")
        def build(
            name: str,
            size: Annotated[int, typer.Option("--size", "-s", help="how big")] = 3,
            where: str = typer.Option("here", help="the place"),
            fast: bool = False,
        ):
            '''Build it.'''
        """).commands
    assert ("typer", "build", "build", "Build it.") == (
        found.framework,
        found.name,
        found.function,
        found.help,
    )
    assert [
        (("name",), "str", "", "", True, True, False),
        (("--size", "-s"), "int", "3", "how big", False, False, False),
        (("--where",), "str", '"here"', "the place", False, False, False),
        (("--fast",), "bool", "False", "", False, False, True),
    ] == [(o.flags, o.type, o.default, o.help, o.required, o.is_argument, o.is_flag) for o in found.options]


def test_fire_hydra_absl_and_plain_arguments(read: Read) -> None:
    """The component's parameters, the configuration's place, the defined flags, the positions read."""
    (fire,) = read("""
        import fire
        def run(a: int, b=2):
            '''Run it.

            Args:
                a: the a
            '''
        if __name__ == "__main__":
            fire.Fire(run)
        """).commands
    assert ("fire", "run", [(("a",), "int", "the a"), (("--b",), "", "")]) == (
        fire.framework,
        fire.function,
        [(o.flags, o.type, o.help) for o in fire.options],
    )
    (hydra,) = read("""
        import hydra
        @hydra.main(version_base=None, config_path="conf", config_name="config")
        def app(cfg): ...
        """).commands
    assert ("hydra", "app", ['"conf"', '"config"']) == (
        hydra.framework,
        hydra.function,
        [o.default for o in hydra.options],
    )
    (absl,) = read("""
        from absl import flags
        flags.DEFINE_integer("count", 3, "how many")
        """).commands
    assert ("absl", "--count", "int", "3", "how many") == (
        absl.framework,
        absl.options[0].flags[0],
        absl.options[0].type,
        absl.options[0].default,
        absl.options[0].help,
    )
    (plain,) = read("import sys\npath = sys.argv[1]\nprint(sys.argv[2])\n").commands
    assert ("sys.argv", ["path", "argument2"]) == (plain.framework, [o.flags[0] for o in plain.options])


def test_dataclasses_of_transformers(read: Read) -> None:
    """The fields of the dataclasses that its parser is given."""
    (found,) = read("""
        from dataclasses import dataclass, field
        from transformers import HfArgumentParser
        @dataclass
        class Given:
            model: str = field(metadata={"help": "which model"})
            size: int = 3
        parser = HfArgumentParser((Given, Other))
        """).commands
    assert [("--model", "str", "", "which model"), ("--size", "int", "3", "")] == [
        (o.flags[0], o.type, o.default, o.help) for o in found.options
    ]


def test_a_file_without_a_command_line_has_none(read: Read) -> None:
    """A method called `command` or `add` elsewhere is no command line."""
    assert (
        ()
        == read("""
        @bus.command()
        def f(): ...
        x.add_option(3)
        """).commands
    )
